//! What a native user costs, counted by the allocator: nothing else runs in this process.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use plimsoll_engine::native::plain_get;
use plimsoll_engine::{Engine, Limits, NativeUsers, Origin, OriginOptions, now};
use plimsoll_record::Recorder;

/// The system's allocator, and the bytes that it has handed out and not got back.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: everything is left to the system's allocator; the counter has no part in it.
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

/// Users whose requests are out and not answered: they hold the most then.
#[test]
fn a_native_user_costs_a_kibibyte_beside_its_socket_whatever_their_number() {
    let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    listener.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    listener.listen(1024).unwrap();
    let listener = TcpListener::from(listener);
    let origin = Origin::new(&format!("http://{}", listener.local_addr().unwrap()), &OriginOptions::default());
    let origin = Arc::new(origin.unwrap());
    let wire = plain_get(&origin, "/", "test").unwrap();
    let endpoint = Recorder::new(now()).endpoint("GET", "/");

    let mut engine = Engine::new(Limits::default()).unwrap();
    let mut users = NativeUsers::new(origin, wire, endpoint, 60_000_000_000, 1 << 63);
    let before = LIVE.load(Ordering::Relaxed);
    for count in [100, 129, 257, 300, 400, 513, 600] {
        users.spawn(&mut engine, count - users.active());
        while engine.poll(Some(Duration::from_millis(10))).unwrap() > 0 {
            assert!(engine.next_event().is_none(), "nobody answers");
        }
        assert_eq!((users.active(), engine.connections()), (count, count));
        let each = (LIVE.load(Ordering::Relaxed) - before) / count;
        println!("{count} users: {each} bytes each");
        assert!(each <= 1024, "{each} bytes for each of {count} users");
    }
}
