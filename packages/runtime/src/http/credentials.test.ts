import type { IncomingHttpHeaders } from 'node:http'
import t from 'tap'
import { presentedCredentials } from './credentials.ts'

const presented = (headers: IncomingHttpHeaders, query: Record<string, unknown> = {}) =>
  presentedCredentials({ headers, query })
const session = (value: string) => ({ kind: 'session', value })
const guest = (value: string) => ({ kind: 'guest_token', value })
const unusable = { kind: 'unusable' }

t.test('a request without credentials has none', async (t) => {
  t.same(presented({ 'user-agent': 'x' }, { page: '1' }), [])
})

t.test('credentials of all kinds are tried in the order of the interface [5-order]', async (t) => {
  const headers = { authorization: 'Bearer a', 'x-session-id': 'b', 'x-guest-token': 'c' }
  t.same(presented(headers, { token: 'e', session_id: 'd' }), [
    session('a'),
    session('b'),
    guest('c'),
    session('d'),
    guest('e'),
  ])
})

t.test('the Authorization header accepts the schemes Bearer and Token in any case [5-authorization]', async (t) => {
  t.same(presented({ authorization: 'Token g' }), [guest('g')])
  t.same(presented({ authorization: 'TOKEN  g' }), [guest('g')])
  t.same(presented({ authorization: 'bearer s' }), [session('s')])
})

t.test('a malformed credential is unusable, not missing', async (t) => {
  for (const authorization of ['', 'Bearer', 'Bearer ', 'Basic dTpw', 'abc', 'Bearer a b', 'Bearer a, Bearer b'])
    t.match(presented({ authorization }), [unusable], authorization)
  t.match(presented({ 'x-session-id': '' }), [unusable])
  t.match(presented({ 'x-session-id': 'a, b' }), [unusable], 'a header sent twice')
  t.match(presented({ 'x-guest-token': 'a\u0007' }), [unusable])
  t.match(presented({ 'x-guest-token': 'é' }), [unusable])
  const longest = 'a'.repeat(1024)
  t.same(presented({ 'x-guest-token': longest }), [guest(longest)])
  t.match(presented({ 'x-guest-token': `${longest}a` }), [unusable])
  t.match(presented({}, { token: '' }), [unusable])
  t.match(presented({}, { session_id: ['a', 'b'] }), [unusable], 'a parameter sent twice')
})
