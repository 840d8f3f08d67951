import { webhookHeaders } from '@paylog/webhooks/messages/signing'
import t from 'tap'
import { openWebhookEndpoint } from './webhookEndpoint.ts'

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

t.test('the demo endpoint rejects requests without a valid signature and keeps listening', async (t) => {
  const endpoint = await openWebhookEndpoint(secret)
  t.teardown(() => endpoint.close())
  const body = JSON.stringify({ event: 'payment.created', data: { payment_id: '1' } })
  const post = async (signed: string) => {
    const headers = webhookHeaders({ id: 'msg_1', at: new Date(), body: signed, secrets: [secret], sequence: 1n })
    return (await fetch(endpoint.url, { method: 'POST', headers, body })).status
  }
  t.equal(await post(`${body} changed`), 400)
  t.equal(await post(body), 200)
  t.match(await endpoint.arrivals(1, AbortSignal.timeout(5_000)), [{ webhook: { data: { payment_id: '1' } } }])
})
