//! The memory of a native user, counted by the allocator. No other test runs in this process.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use plimsoll_engine::{Engine, Limits, NativeUsers, Rules, Script, now};
use plimsoll_record::Recorder;
use plimsoll_scenario::Scenario;

/// The system's allocator, with a counter of allocated bytes.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: everything is passed to the system's allocator; the counter does not affect it.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Measures users whose requests are sent and not answered: they need the most memory.
#[test]
fn a_native_user_costs_a_kibibyte_beside_its_socket_whatever_their_number() {
    let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    listener.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    listener.listen(1024).unwrap();
    let listener = TcpListener::from(listener);
    let definition = format!(
        r#"{{"targets": [{{"url": "http://{}"}}],
            "flows": [{{"name": "get", "steps": [{{"name": "/", "method": "GET", "path": "/", "timeout": 60.0}}]}}]}}"#,
        listener.local_addr().unwrap()
    );
    let script = Script::new(Scenario::new(&definition, 0, 1, 0).unwrap()).unwrap();
    let mut recorder = Recorder::new(now());
    let mut engine = Engine::new(Limits::default()).unwrap();
    let mut users = NativeUsers::new(&script, &mut recorder, Rules::default(), 1 << 63);
    let before = LIVE.load(Ordering::Relaxed);
    for count in [100, 129, 257, 300, 400, 513, 600] {
        users.resize(&mut engine, &mut recorder, count).unwrap();
        while engine.poll(Some(Duration::from_millis(10))).unwrap() > 0 {
            assert!(engine.next_event().is_none(), "nobody answers");
        }
        assert_eq!((users.active(), engine.connections()), (count, count));
        let each = (LIVE.load(Ordering::Relaxed) - before) / count;
        println!("{count} users: {each} bytes each");
        assert!(each <= 928, "{each} bytes for each of {count} users");
    }
}
