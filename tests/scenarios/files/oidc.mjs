// An OpenID provider (oidc-provider) and a client of it (oidc-client-ts), which logs in with a code and PKCE, and reads
// who has logged in. Arguments: the port, the folder node_modules.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'

const [port, modules] = process.argv.slice(2)
const { Provider } = createRequire(`${modules}/`)('oidc-provider')
const library = readFileSync(`${modules}/oidc-client-ts/dist/browser/oidc-client-ts.min.js`)
const site = `http://127.0.0.1:${port}`

const provider = new Provider(site, {
  clients: [{
    client_id: 'shop', redirect_uris: [`${site}/shop`], token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'], scope: 'openid offline_access',
  }],
  clientBasedCORS: () => true,
  pkce: { required: () => true },
  features: { devInteractions: { enabled: true } },
})

const page = `<!doctype html><title>Shop</title><button id="login">Log in</button><p id="who"></p>
<script src="/client.js"></script><script>
const client = new oidc.UserManager({ authority: location.origin, client_id: 'shop', response_type: 'code',
  redirect_uri: location.origin + '/shop', scope: 'openid offline_access', loadUserInfo: true })
login.onclick = () => client.signinRedirect({ extraQueryParams: { prompt: 'consent' } })
if (location.search.includes('code=')) {
  client.signinCallback().then(() => client.signinSilent()).then((user) => { who.textContent = user.profile.sub })
}
</script>`

const serve = (response, type, text) => response.writeHead(200, { 'Content-Type': type }).end(text)
const answer = provider.callback()
createServer((request, response) => {
  const path = request.url.split('?')[0]
  if (path === '/shop') serve(response, 'text/html', page)
  else if (path === '/client.js') serve(response, 'text/javascript', library)
  else answer(request, response)
}).listen(Number(port), '127.0.0.1')
