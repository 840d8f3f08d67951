import t from 'tap'
import { apiHarness } from '../testing/apiHarness.ts'

const { url } = await apiHarness(
  t,
  { CONSOLE_SESSION_COOKIE: 'sid', CORS_ORIGINS: 'https://shop.example.com' },
  (http) =>
    Promise.resolve().then(() => {
      http.get('/caller', async ({ headers }) => ({ session: headers['x-session-id'] ?? null }))
      http.post('/caller', async ({ headers }) => ({ session: headers['x-session-id'] ?? null }))
    }),
)
const cookie = 'theme=dark; sid=s%31; other=2'
const fromConsole = { 'x-paylog-console': '1' }

async function sessionOf(headers: Record<string, string>, { method = 'GET', query = '' } = {}): Promise<string | null> {
  return JSON.parse(await (await fetch(`${url}/caller${query}`, { method, headers })).text()).session
}

t.test('a request of the console has the session of the cookie', async (t) => {
  for (const method of ['GET', 'POST']) {
    t.equal(await sessionOf({ cookie, ...fromConsole }, { method }), 's1', method)
    t.equal(await sessionOf({ cookie, ...fromConsole, 'sec-fetch-site': 'same-origin' }, { method }), 's1', method)
  }
})

t.test('a request that another site can cause does not have the session of the cookie', async (t) => {
  for (const method of ['GET', 'POST']) {
    t.equal(await sessionOf({ cookie }, { method }), null, `${method} without the header`)
    for (const site of ['cross-site', 'same-site', 'none'])
      t.equal(
        await sessionOf({ cookie, ...fromConsole, 'sec-fetch-site': site }, { method }),
        null,
        `${method} ${site}`,
      )
  }
})

t.test('a browser may not send the header of the console from an allowed origin', async (t) => {
  const preflight = await fetch(`${url}/caller`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://shop.example.com',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-paylog-console',
    },
  })
  t.notMatch(preflight.headers.get('access-control-allow-headers') ?? '', /console/i)
  t.equal(preflight.headers.get('access-control-allow-credentials'), null)
})

t.test('any other credential comes before the cookie', async (t) => {
  t.equal(await sessionOf({ cookie, ...fromConsole, 'x-session-id': 'own' }), 'own')
  t.equal(await sessionOf({ cookie, ...fromConsole, authorization: 'Bearer own' }), null)
  t.equal(await sessionOf({ cookie, ...fromConsole, 'x-guest-token': 'guest' }), null)
  t.equal(await sessionOf({ cookie, ...fromConsole }, { query: '?session_id=own' }), null)
  t.equal(await sessionOf({ cookie, ...fromConsole }, { query: '?token=guest' }), null)
})

t.test('a request without the configured cookie is anonymous', async (t) => {
  t.equal(await sessionOf({ ...fromConsole }), null)
  t.equal(await sessionOf({ ...fromConsole, cookie: 'sid=; session=s1' }), null)
})

t.test('without CONSOLE_SESSION_COOKIE cookies are ignored', async (t) => {
  const { url } = await apiHarness(t, {}, async (http) => {
    http.get('/caller', async ({ headers }) => ({ session: headers['x-session-id'] ?? null }))
  })
  const found = await (await fetch(`${url}/caller`, { headers: { cookie, ...fromConsole } })).json()
  t.same(found, { session: null })
})
