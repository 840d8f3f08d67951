// What others wrote is shown as text: scripts in every field of a payment, a product and a response.
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { admin, consoleTests, textOf } from './consoleHarness.ts'
import { openPayment, settlePayment } from './payments.ts'

const script = '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
const disguised = 'moc.live\u202e'
const formula = '=HYPERLINK("http://example.com")'
const test = await consoleTests(t, { respond: (response) => response.end(`${script}${disguised}`) })

test('scripts in the fields of a payment are shown as text, in the list, on its page and in the CSV', async (t, harness) => {
  const { system, endpoint, open } = harness
  const id = await openPayment(system, {
    email: 'buyer@example.com',
    total_cents: 4_200,
    concept: script,
    description: `x;${formula}${disguised}`,
    reference_code: formula,
    category: script,
    tags: script,
    metadata: { [script.slice(0, 40)]: script, disguised, link: 'javascript:window.hacked=1' },
    guest_data: { email: 'buyer@example.com', name: script, phone: '+34600000000' },
  })
  await settlePayment(system, id)
  await waitFor(() => endpoint.received.length === 2, { what: 'the webhooks' })
  const page = await open('/payments')
  await page.getByText('1 payment', { exact: true }).waitFor()
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download 1 as CSV' }).click()
  const csv = await (await downloading).createReadStream().then((stream) => stream.toArray())
  const text = Buffer.concat(csv).toString()
  t.match(text, id)
  t.notMatch(text, /(^|[,;])"?=HYPERLINK/m, 'no cell is a formula, at whichever separator the program splits')
  t.equal(text.codePointAt(0), 0xfeff, 'it begins with a byte order mark')
  t.match(text, 'moc.live[U+202E]')
  await page.getByRole('link', { name: 'onerror' }).click()
  await page.getByRole('button', { name: /^payment\.succeeded to 127/ }).click()
  await page.getByRole('table', { name: 'Attempts' }).waitFor()
  for (const button of await page.getByRole('button', { name: /^\d+ \w+ position/ }).all()) await button.click()
  t.match(await textOf(page.getByRole('main')), /onerror="window\.hacked=1"/)
  t.match(await textOf(page.getByRole('main')), 'moc.live[U+202E]')
  t.notMatch(await textOf(page.locator('body')), '\u202e')
  t.equal(await page.locator('a[href^="javascript:"]').count(), 0)
  await page.goto(`${system.baseUrl}/console/webhooks`)
  await page.getByRole('link', { name: 'payment.succeeded' }).first().click()
  await page.getByRole('region', { name: 'Exact body' }).waitFor()
  t.match(await textOf(page.getByRole('main')), 'moc.live[U+202E]')
  t.notMatch(await textOf(page.locator('body')), '\u202e')
  t.equal(await page.evaluate('String(window.hacked)'), 'undefined')
})

test('scripts in the fields of a product are shown as text', async (t, { system, open }) => {
  const body = { name: script, description: script, product_type: 'digital', subtotal_cents: 100, currency: 'EUR' }
  const headers = { ...admin, 'content-type': 'application/json' }
  await fetch(`${system.baseUrl}/admin/products`, { method: 'POST', headers, body: JSON.stringify(body) })
  const page = await open('/products')
  await page.getByText('window.hacked').first().click()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('dialog').waitFor()
  t.equal(await page.evaluate('String(window.hacked)'), 'undefined')
})

test('the page allows scripts and connections of its own origin only', async (t, { system }) => {
  const policy = (await fetch(`${system.baseUrl}/console`)).headers.get('content-security-policy') ?? ''
  t.match(policy, /default-src 'none'.*script-src 'self'.*connect-src 'self'.*frame-ancestors 'none'/)
  t.notMatch(policy, /unsafe|\*|https?:/)
})
