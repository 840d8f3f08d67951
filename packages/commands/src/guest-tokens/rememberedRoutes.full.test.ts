import t from 'tap'
import { ada, commandApiHarness, guest, type Headers } from '../testing/commandApiHarness.ts'

const { send, store } = await commandApiHarness(t)
const guest_data = { email: 'Guest@example.com', name: 'Guest', phone: '+34600000000' }

async function recordedTokens(): Promise<number> {
  let count = 0
  for await (const _ of store.readLog({ prefixes: ['guestToken-'] })) count++
  return count
}

t.test('a guest token is recorded only when a payment is created [5-history-written]', async (t) => {
  for (const [path, body] of [
    ['/addresses', { address_type: 'shipping', line1: 'Calle 1', city: 'Madrid', country: 'ES' }],
    ['/payment-methods', { payment_method_token: 'pm_card_visa' }],
  ] as const) {
    const { status, data } = await send<{ id: string }>('POST', path, guest, body)
    t.equal(status, 201)
    t.equal((await send('PUT', `${path}/${data.id}`, guest, { alias: 'a' })).status, 200)
  }
  const pay = async (more: object = {}, headers: Headers = guest) =>
    (await send('POST', '/payments/intents', headers, { total_cents: 500, currency: 'EUR', guest_data, ...more }))
      .status
  t.equal(await pay({ guest_data: undefined }), 403)
  t.equal(await pay({ total_cents: 0 }), 400)
  t.equal(await pay({ guest_data: { ...guest_data, email: 'x@example.com' } }), 403)
  t.equal(await pay({}, ada), 201)
  t.equal(await pay({}, {}), 201)
  t.equal(await recordedTokens(), 0)
  t.equal(await pay(), 201)
  t.equal(await recordedTokens(), 1)
})
