// The sandbox's page over HTTP, as a browser without scripts sees it.

import t from 'tap'
import { refundPayment } from '../payments/refundPayment.ts'
import { settlePayment } from '../payments/sandboxReports.ts'
import { admin, commandApiHarness, webhookSecret } from '../testing/commandApiHarness.ts'
import { sandboxPageHarness, shop } from '../testing/sandboxPageHarness.ts'

const api = await sandboxPageHarness(t)
const { open, pay, paymentNow, store, send, recordsNothing } = api
const metadata = { correlationId: 'r', causationId: 'r', actor: 'operator' }

/** How many notifications of a payment were recorded. */
const notified = async (id: string) => {
  const { data } = await send<readonly { type: string }[]>('GET', `/admin/payments/${id}/events`, admin)
  return data.filter(({ type }) => type === 'ProviderNotificationReceived').length
}

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
    t.same(page.buttons, ['Pay', 'Ask me first', 'Pay later', 'Decline', 'Cancel'])
    t.match(await page.send(action), { status: 303, location }, action)
    t.match(await paymentNow(id), { status }, action)
    t.equal(await notified(id), action === 'cancel' ? 0 : 1)
  }
})

t.test('without addresses of a shop the page says what happened', async (t) => {
  for (const [action, text] of [
    ['pay', /Paid 22\.00 EUR 22\.00 EUR was paid\./],
    ['decline', /The last attempt was declined, and nothing was charged\. You can try again\./],
    ['later', /Processing 22\.00 EUR The payment is being processed\./],
    ['cancel', /You did not pay 22\.00 EUR Nothing was charged\. The payment is still open\./],
  ] as const) {
    const { redirect_url } = await pay()
    const { location } = await (await open(redirect_url)).send(action)
    const shown = await open(location ?? '')
    t.match(shown.text, text, action)
    t.notMatch(shown.text, 'Continue to', 'there is nowhere to go')
    t.equal(/http-equiv="refresh"/.test(shown.html), action === 'later', 'what does not stay is shown again')
  }
})

t.test('Ask me first shows a second page, on which the payer approves or declines', async (t) => {
  for (const [action, status] of [
    ['approve', 'succeeded'],
    ['decline', 'failed'],
  ] as const) {
    const { id, redirect_url } = await pay(shop)
    const { location } = await (await open(redirect_url)).send('ask')
    const second = await open(location ?? '')
    t.match(second.text, /Do you approve this payment\? 22\.00 EUR/)
    t.same(second.buttons, ['Approve', 'Decline'])
    t.match(await paymentNow(id), { status: 'pending' })
    t.match(await second.send(action), { status: 303, location: shop.return_url })
    t.match(await paymentNow(id), { status })
    const again = await open(location ?? '')
    t.equal(again.buttons.includes('Approve'), action === 'decline', 'only what is open is asked')
  }
})

t.test('the test methods behave on the page as they do elsewhere', async (t) => {
  const asking = await pay({ ...shop, payment_method_id: 'pm_card_actionRequired' })
  const { location } = await (await open(asking.redirect_url)).send('pay')
  t.match(await paymentNow(asking.id), { status: 'pending' })
  t.match(await (await open(location ?? '')).send('approve'), { location: shop.return_url })
  t.match(await paymentNow(asking.id), { status: 'succeeded' })
  const approved = await pay({ payment_method_id: 'pm_card_approval' })
  await (await open(approved.redirect_url)).send('pay')
  t.match(await paymentNow(approved.id), { status: 'processing' })
  const disputed = await pay({ payment_method_id: 'pm_card_dispute' })
  await (await open(disputed.redirect_url)).send('pay')
  t.match(await paymentNow(disputed.id), { status: 'succeeded', dispute_status: 'open' })
})

t.test('with manual capture the amount is reserved, and the page follows it to its capture', async (t) => {
  const { id, redirect_url } = await pay({ capture_method: 'manual' })
  const page = await open(redirect_url)
  t.match(page.text, 'The amount is reserved, and captured later.')
  await page.send('pay')
  t.match(await paymentNow(id), { status: 'processing', amount_capturable_cents: 2200 })
  const reserved = await open(redirect_url)
  t.match(reserved.text, /Reserved 22\.00 EUR 22\.00 EUR is reserved\./)
  t.same(reserved.buttons, [])
  await send('POST', `/payments/${id}/capture`, admin, { amount_cents: 1500 })
  t.match((await open(redirect_url)).text, /Paid 22\.00 EUR 15\.00 EUR was paid\./)
})

t.test('two clicks at once pay once, and both lead to the shop', async (t) => {
  const { id, redirect_url } = await pay(shop)
  const page = await open(redirect_url)
  const clicks = await Promise.all([page.send('pay'), page.send('pay'), page.send('pay')])
  for (const click of clicks) t.match(click, { status: 303, location: shop.return_url })
  t.match(await paymentNow(id), { status: 'succeeded', amount_received_cents: 2200 })
  t.equal(await notified(id), 1)
})

t.test('a page that was open while something else happened says what that was', async (t) => {
  const base = { store, baseUrl: api.origin, secret: webhookSecret }
  for (const [text, act] of [
    [
      /Canceled 22\.00 EUR This payment was canceled/,
      (id: string) => send('POST', `/payments/${id}/cancel`, admin, {}),
    ],
    [/declined/, (paymentId: string) => settlePayment({ ...base, paymentId, outcome: 'failed' })],
    [/Processing/, (paymentId: string) => settlePayment({ ...base, paymentId, outcome: 'processing' })],
    [
      /Refunded 22\.00 EUR 22\.00 EUR was paid\. 7\.00 EUR of it was given back\./,
      async (payment_id: string) => {
        await settlePayment({ ...base, paymentId: payment_id, outcome: 'succeeded' })
        const command = { refund_id: payment_id, amount_cents: 700, reason: 'other', note: null, refund_limit_cents: null } as const
        await refundPayment(api.workflow, { payment_id, metadata, ...command, request_fingerprint: null })
      },
    ],
  ] as const) {
    const { id, redirect_url } = await pay({ cancel_url: shop.cancel_url })
    const page = await open(redirect_url)
    await act(id)
    const before = await paymentNow(id)
    for (const action of ['pay', 'later', 'decline']) {
      if (before.status === 'failed' && action === 'decline') continue
      const { location } = await page.send(action)
      t.match((await open(location ?? '')).text, text, `${action}: ${text}`)
    }
    t.match(await paymentNow(id), { status: before.status, updated_at: before.updated_at })
  }
})

t.test('a payment that expired says so, and when', async (t) => {
  const soon = await sandboxPageHarness(t, { payments: { expiresAfterMs: 1 } })
  const { id, redirect_url } = await soon.pay()
  await soon.send('POST', `/payments/${id}/cancel`, admin, {})
  t.match((await soon.open(redirect_url)).text, /Expired 22\.00 EUR Nobody paid before \d+ \w+ 20\d\d at \d\d:\d\d UTC/)
})

t.test('an address that nobody was given is not found, and reads and records nothing', async (t) => {
  const [{ redirect_url }, other] = [await pay(), await pay()]
  const unknown = `${redirect_url.replace(/[^/]*$/, '')}${other.redirect_url.replace(/^.*\//, '')}`
  await recordsNothing(t, async () => {
    for (const url of [unknown, `${redirect_url}x`, '/pages/sandbox/a/b', `${unknown}/confirm`, `${unknown}/left`]) {
      const page = await open(url)
      t.equal(page.status, 404, url)
      t.match(page.text, 'This address leads to no payment.')
      t.match(page.headers.get('content-type'), 'text/html')
    }
    t.equal((await (await open(unknown)).send('pay')).status, 404)
  })
  const off = await commandApiHarness(t)
  const { statusCode } = await off.app.inject(redirect_url.replace(api.origin, ''))
  t.equal(statusCode, 404, 'without a page')
})

t.test('amounts have the decimals of their currency', async (t) => {
  for (const [currency, total_cents, text] of [
    ['JPY', 500, 'Pay 500 JPY'],
    ['KWD', 1500, 'Pay 1.500 KWD'],
    ['EUR', 123456789, 'Pay 1234567.89 EUR'],
  ] as const)
    t.match((await open((await pay({ currency, total_cents })).redirect_url)).text, text)
})

t.test('texts and addresses of a client are text, and not markup', async (t) => {
  const hostile = `</bdi><script>alert(1)</script>"'&`
  const return_url = `https://shop.example.com/?a="><script>alert(1)</script>&b='`
  const { redirect_url } = await pay({ concept: hostile, description: hostile, reference_code: hostile, return_url })
  const page = await open(redirect_url)
  t.match(page.html, '&lt;/bdi&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;')
  await page.send('pay')
  const paid = await open(redirect_url)
  for (const { html } of [page, paid]) t.notMatch(html, /<script/)
  t.match(paid.html, 'href="https://shop.example.com/?a=&quot;&gt;&lt;script&gt;')
})

t.test('the page forbids scripts, frames, caches and referrers, and its forms lead to the shop only', async (t) => {
  const { redirect_url } = await pay(shop)
  const { headers, html } = await open(redirect_url)
  t.match(
    headers.get('content-security-policy'),
    /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; img-src data:; form-action 'self' https:\/\/shop\.example\.com http:\/\/localhost:3000; base-uri 'none'; frame-ancestors 'none'$/,
  )
  t.match(Object.fromEntries(headers), { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  t.notMatch(html, / on[a-z]+=|style=/)
})

t.test('a form that another site sends does nothing', async (t) => {
  const { id, redirect_url } = await pay(shop)
  const page = await open(redirect_url)
  for (const from of ['cross-site', 'same-site', 'none']) {
    const sent = await page.send('pay', { 'sec-fetch-site': from })
    t.match(sent, { status: 403, text: /sent by another site\. Nothing was done\./ }, from)
  }
  t.match(await paymentNow(id), { status: 'pending' })
  t.equal((await page.send('pay', { 'sec-fetch-site': 'same-origin' })).status, 303)
})

t.test('forms that the page does not have are errors in plain words', async (t) => {
  const { redirect_url } = await pay()
  const post = async (body: string, type = 'application/x-www-form-urlencoded') => {
    const response = await fetch(redirect_url, { method: 'POST', headers: { 'content-type': type }, body })
    t.match(response.headers.get('content-type'), 'text/html')
    return response.status
  }
  t.equal(await post('action=steal'), 400)
  t.equal(await post(''), 400)
  t.equal(await post('action=pay&amount=1'), 400)
  t.equal(await post('action=pay', 'text/plain'), 415)
  t.equal(await post(`action=${'x'.repeat(17_000)}`), 413)
})
