import t from 'tap'
import { openWebhookEndpoint } from './webhookEndpoint.ts'

t.test('the demo endpoint rejects requests that are not webhooks and keeps listening', async (t) => {
  const endpoint = await openWebhookEndpoint('whsec_AAAA')
  t.teardown(() => endpoint.close())
  const post = (body: string) => fetch(endpoint.url, { method: 'POST', body })
  await t.rejects(post('not JSON'))
  t.equal((await post('{}')).status, 400)
  const data = { payment_id: '1', amount: 100, currency: 'EUR', status: 'pending' }
  t.equal((await post(JSON.stringify({ event: 'payment.created', data }))).status, 200)
  const arrivals = await endpoint.arrivals(1, AbortSignal.timeout(5_000))
  t.match(arrivals, [{ signatureIsValid: false, webhook: { data } }])
})
