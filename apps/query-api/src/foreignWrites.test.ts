// In the whole running system: reading after a write that the read model has nothing to do with.
import { startSystem } from '@paylog/testing/system'
import t from 'tap'

t.test('a read after a write of something else does not wait in vain', async (t) => {
  const { baseUrl } = await startSystem(t)
  const headers = { 'x-session-id': 'demo-session', 'content-type': 'application/json' }
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    t.equal(answer.status, 201, path)
    return answer.headers.get('x-event-position') ?? ''
  }
  const writes = [
    ['/payment-methods/setup-intent', { provider_id: 'sandbox' }],
    ['/payments/intents', { provider_id: 'sandbox', total_cents: 1000, currency: 'EUR' }],
    ['/addresses', { address_type: 'billing', line1: 'Street 1', city: 'Town', country: 'DE' }],
  ] as const
  for (let round = 0; round < 2; round++)
    for (const [path, body] of writes)
      for (const url of ['/payments?include=payment_method', '/payment-methods', '/addresses', '/admin/products']) {
        const position = await post(path, body)
        const begun = performance.now()
        const session = url.startsWith('/admin') ? { 'x-session-id': 'demo-admin-session' } : {}
        const answer = await fetch(`${baseUrl}${url}`, {
          headers: { ...headers, ...session, 'x-read-after': position },
        })
        const tookMs = performance.now() - begun
        t.equal(answer.status, 200)
        t.equal(answer.headers.get('x-read-stale'), null, `${url} after ${path}`)
        t.ok(tookMs < 1_000, `${url} after ${path} took ${Math.round(tookMs)} ms`)
      }
})
