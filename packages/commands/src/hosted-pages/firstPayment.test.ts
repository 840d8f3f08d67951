// The button of the start page, over HTTP.
import { firstPaymentPath } from '@paylog/runtime/http/pages/startPage'
import t from 'tap'
import { sandboxPageHarness } from '../testing/sandboxPageHarness.ts'

const api = await sandboxPageHarness(t, {
  startPage: 'demo',
  payments: { returnUrlOrigins: ['https://shop.example.com'] },
})
const { origin, open, pay, paymentNow, recordsNothing } = api

const press = (headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${origin}${firstPaymentPath}`, { method: 'POST', redirect: 'manual', headers })

t.test("the button makes a guest's payment, whose payer comes back to a page with its state", async (t) => {
  const response = await press({ 'content-type': 'application/x-www-form-urlencoded' })
  t.equal(response.status, 303)
  const page = await open(response.headers.get('location') ?? '')
  t.match(page.text, /Pay 22\.00 EUR.*For Two tickets/)
  const { location } = await page.send('cancel')
  const pending = await open(location ?? '')
  t.match(pending.text, /22\.00 EUR pending.*Back to the payment page/)
  await page.send('pay')
  const paid = await open(location ?? '')
  t.match(paid.text, /22\.00 EUR succeeded/)
  const [, id = ''] = /payments\/([0-9a-f-]{36})#session=demo-admin-session"/.exec(paid.html) ?? []
  t.match(await paymentNow(id), { status: 'succeeded', is_guest_payment: true, guest_email: 'guest@example.com' })
  t.match(location, `${origin}${firstPaymentPath}/${id}`)
})

t.test('the page of the first payment shows no other payment, whoever knows its id', async (t) => {
  const { id } = await pay()
  for (const path of [id, 'x', `${id}/x`]) t.equal((await open(`${firstPaymentPath}/${path}`)).status, 404, path)
})

t.test('without a start page or by another site there is no first payment', async (t) => {
  await recordsNothing(t, async () => t.equal((await press({ 'sec-fetch-site': 'cross-site' })).status, 403))
  const off = await sandboxPageHarness(t)
  const response = await fetch(`${off.origin}${firstPaymentPath}`, { method: 'POST', redirect: 'manual' })
  t.equal(response.status, 404)
})
