// E-mails that the identity backend states in a form that nobody may type, such as that of a domain with an umlaut.
import { paymentStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { commandApiHarness, type Headers } from './testing/commandApiHarness.ts'

const stated = ['kim@bücher.example', 'kim.@example.jp', 'Kim Lee', 'a"b@example.com']
const other = 'lee.@example.jp'
const tokenOf = (email: string) => ({
  token: `stated-token-${stated.indexOf(email)}`,
  email,
  name: 'Kim',
  expires_at: null,
})
const { send, store } = await commandApiHarness(t, { guestTokens: stated.map(tokenOf) })
const address = { address_type: 'billing', line1: 'Calle 1', city: 'Madrid', postal_code: '28001', country: 'ES' }
const card = { payment_method_token: 'pm_card_visa' }

for (const email of stated) {
  const typed = email.toUpperCase().replace('Ü', 'ü')
  const as: Headers = { 'x-guest-token': tokenOf(email).token }
  const post = (path: string, body: object) => send<{ id: string }>('POST', path, as, body)
  const pay = (guest: string) =>
    post('/payments/intents', { total_cents: 500, currency: 'EUR', guest_data: { email: guest, name: 'Kim' } })

  t.test(`a guest whose e-mail is ${email} pays, saves and changes with it in upper or lower case`, async (t) => {
    const paid = await pay(typed)
    t.equal(paid.status, 201, paid.text)
    const [initiated] = await store.readStream(paymentStream(paid.data.id))
    t.match(initiated?.data, { guest_email: typed, payer: { email: typed } })
    const added = await post('/addresses', { ...address, email: typed, guest_email: typed })
    t.match(added, { status: 201, data: { email: typed, guest_email: typed } })
    const changed = await send('PUT', `/addresses/${added.data.id}`, as, { email })
    t.match(changed, { status: 200, data: { email } })
    t.match(await post('/payment-methods', { ...card, billing_details: { email } }), { status: 201 })
  })

  t.test(`somebody else's e-mail of such a form is rejected from ${email}`, async (t) => {
    t.match(await pay(other), { status: 403 })
    const invalid = { status: 400, error: { details: { fields: [{ field: 'email' }] } } }
    t.match(await post('/addresses', { ...address, email: other }), invalid)
  })
}

t.test('an e-mail of such a form is rejected without a credential that states it', async (t) => {
  for (const email of stated) {
    const body = { total_cents: 500, currency: 'EUR', guest_data: { email } }
    const invalid = { status: 400, error: { details: { fields: [{ field: 'guest_data.email' }] } } }
    t.match(await send('POST', '/payments/intents', {}, body), invalid)
  }
})
