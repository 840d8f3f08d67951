import t from 'tap'
import { credentialKey, credentialKeys } from './credentialLimits.ts'

t.test('each credential has a hashed key that does not depend on where it is sent', async (t) => {
  const [key = ''] = credentialKeys({ headers: { 'x-session-id': 'ada-secret' }, query: {} })
  t.match(key, /^[\w-]{43}$/)
  for (const authorization of ['Bearer ada-secret', 'token  ada-secret'])
    t.same(credentialKeys({ headers: { authorization }, query: {} }), [key], authorization)
  t.same(credentialKeys({ headers: { 'x-guest-token': 'ada-secret' }, query: { token: 'ada-secret' } }), [key])
  const both = credentialKeys({ headers: { 'x-session-id': 'other' }, query: { session_id: 'ada-secret' } })
  t.equal(both.length, 2)
  t.ok(both.includes(key))
})

t.test('invalid and repeated credentials have keys, and only a request without any has none', async (t) => {
  const presented = [
    { headers: { authorization: '' }, query: {} },
    { headers: { 'x-session-id': '' }, query: {} },
    { headers: {}, query: { token: ['a', 'b'] } },
  ]
  for (const request of presented) t.equal(credentialKeys(request).length, 1, JSON.stringify(request))
  t.same(credentialKeys({ headers: { 'user-agent': 'x' }, query: { page: '1' } }), [])
  t.same(credentialKeys({ headers: {}, query: null }), [])
})

t.test('credentialKey differs for different sets of credentials', async (t) => {
  const ada = { headers: { 'x-session-id': 'ada' }, query: {} }
  t.equal(credentialKey(ada), credentialKey({ headers: { authorization: 'Bearer ada' }, query: {} }))
  t.not(credentialKey(ada), credentialKey({ ...ada, query: { token: 'x' } }))
  t.equal(credentialKey({ headers: {}, query: {} }), undefined)
})
