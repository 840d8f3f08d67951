import t from 'tap'
import { sandboxPageHarness, shop } from '../testing/sandboxPageHarness.ts'

const api = await sandboxPageHarness(t)
const { open, pay, paymentNow } = api

t.test('each choice of the payer leads to the shop, and the payment becomes what was chosen', async (t) => {
  for (const [action, status, location] of [
    ['pay', 'succeeded', shop.return_url],
    ['decline', 'failed', shop.return_url],
    ['later', 'processing', shop.return_url],
    ['cancel', 'pending', shop.cancel_url],
  ] as const) {
    const { id, redirect_url } = await pay(shop)
    const page = await open(redirect_url)
    t.equal(page.status, 200)
    t.match(page.text, /no money moves.*22\.00 EUR.*Payee shop\.example\.com For Two tickets/)
    const sent = await page.send(action)
    t.match(sent, { status: 303, location }, action)
    t.match(await paymentNow(id), { status }, action)
  }
})
