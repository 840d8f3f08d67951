// What all pages share: rights, the search, filters as chips, and rows that are links.
import { demoRights } from '@paylog/identity/sandboxIdentity'
import t from 'tap'
import { accessibilityProblems, addFilter, consoleTests, textOf } from './consoleHarness.ts'
import { openPayment, settlePayment } from './payments.ts'

const test = await consoleTests(t, { payments: 120, env: { RIGHTS: demoRights } })

test('an auditor sees neither pages nor buttons that would be refused, and a link says which right is missing', async (t, harness) => {
  const { system, open } = harness
  const id = await openPayment(system, { email: 'buyer@example.com', total_cents: 4_200 })
  await settlePayment(system, id)
  const page = await open(`/payments/${id}`, { session: 'demo-auditor-session' })
  await page.getByRole('heading', { name: 'Tickets' }).waitFor()
  t.match(await textOf(page.getByRole('navigation', { name: 'Console' })), /Payments.*Audit$/)
  await page.getByRole('button', { name: 'Refresh', exact: true }).waitFor()
  for (const name of ['Refund', 'Cancel']) t.equal(await page.getByRole('button', { name, exact: true }).count(), 0)
  await page.goto(`${system.baseUrl}/console/privacy`)
  await page.getByRole('heading', { name: 'You may not open this page' }).waitFor()
  t.match(await textOf(page.getByRole('main')), /right “privacy”.*erase people.*user type, auditor, .*RIGHTS/)
  t.same(await accessibilityProblems(page), [])
})

test('a refund of support is limited as the route limits it', async (t, { system, open }) => {
  const id = await openPayment(system, { email: 'buyer@example.com', total_cents: 90_000 })
  await settlePayment(system, id)
  const page = await open(`/payments/${id}`, { session: 'demo-support-session' })
  await page.getByRole('button', { name: 'Refund', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Refund this payment' })
  t.match(await textOf(dialog), /At most EUR 500\.00.*limit of your user type/)
  await dialog.getByRole('button', { name: 'Refund EUR 500.00' }).click()
  await dialog.getByText('EUR 500.00 was refunded.').waitFor()
})

test('the search opens by a key, finds pages, ids and words, and gives the focus back', async (t, { system, open }) => {
  const id = await openPayment(system, { email: 'buyer@example.com', total_cents: 4_200 })
  await settlePayment(system, id)
  const page = await open('/payments')
  await page.getByRole('link', { name: /^Order 119/ }).focus()
  await page.keyboard.press('/')
  const dialog = page.getByRole('dialog', { name: 'Search' })
  const field = dialog.getByRole('combobox')
  await field.waitFor()
  t.same(await accessibilityProblems(page), [])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  t.match(await page.evaluate('document.activeElement.textContent').then(String), /^Order 119/)

  await page.keyboard.press('Control+k')
  await page.keyboard.type('prod')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Products', level: 1 }).waitFor()
  for (const [text, heading] of [
    [id, 'Tickets'],
    ['Order 77 winter', 'Order 77: winter shoes'],
  ] as const) {
    await page.keyboard.press('Control+k')
    await field.fill(text)
    await dialog.getByRole('option', { name: heading }).first().waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  }
})

test('filters are chips in the URL, which are changed and removed with the keyboard', async (t, { open }) => {
  const page = await open('/payments')
  await addFilter(page, 'Status', 'Failed')
  await page.waitForURL(/status=failed/)
  await addFilter(page, 'Created', 'Last 7 days')
  await page.waitForURL(/created_at_from=/)
  const filters = page.getByRole('search', { name: 'Filters of payments' })
  t.match(await textOf(filters), /Status: Failed.*Created: since \d{4}-\d{2}-\d{2}/)
  t.same(await accessibilityProblems(page), [])
  await filters.getByRole('button', { name: 'Status: Failed' }).focus()
  await page.keyboard.press('Enter')
  const editor = page.getByRole('dialog', { name: 'Status: Failed' })
  await editor.getByRole('button', { name: 'Succeeded' }).waitFor()
  t.same(await accessibilityProblems(page), [])
  await editor.getByRole('button', { name: 'Succeeded' }).press('Enter')
  await page.waitForURL(/status=succeeded/)
  await filters.getByRole('button', { name: 'Remove the filter Status' }).press('Enter')
  await page.waitForURL((url) => !url.search.includes('status'))
  t.match(await page.evaluate('document.activeElement.textContent').then(String), /Add filter/)
})

/** In the browser: a file whose connection ends after its first line. */
const breakingOff = `const whole = window.fetch
  window.fetch = async (request, init) => {
    if (request.headers?.get('accept') !== 'text/csv') return whole(request, init)
    let isBegun = false
    const body = new ReadableStream({
      pull(controller) {
        if (isBegun) controller.error(new TypeError('network error'))
        else controller.enqueue(new TextEncoder().encode('id\\r\\n'))
        isBegun = true
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/csv', 'x-row-count': '60' } })
  }`

test('a list is saved with all rows of its filter, and a connection that breaks off leaves no file', async (t, {
  open,
}) => {
  const page = await open('/payments?status=failed')
  const button = page.getByRole('button', { name: 'Download 20 as CSV' })
  await button.waitFor()
  const downloading = page.waitForEvent('download')
  await button.click()
  const chunks = await (await downloading).createReadStream().then((stream) => stream.toArray())
  const lines = Buffer.concat(chunks).toString().split('\r\n')
  t.equal(lines.length, 22, 'a header, each payment, and the end of the last line')
  t.match(lines[0], /^\ufeffid,/)
  t.match(lines[0], 'created_at (Europe/Madrid)')
  await page.getByText('20 rows saved').waitFor()

  await page.addInitScript(breakingOff)
  await page.goto(page.url().replace('failed', 'succeeded'))
  let saved = 0
  page.on('download', () => saved++)
  await page.getByRole('button', { name: /^Download \d+ as CSV/ }).click()
  await page.getByText('No file was saved').waitFor()
  t.equal(saved, 0)
})

test('a whole row is a link, also for the middle button of a mouse', async (t, { open }) => {
  const page = await open('/payments')
  const row = page.getByRole('row').filter({ hasText: 'Order 118: winter shoes' })
  const place = await row.getByRole('cell').last().boundingBox()
  if (place === null) throw new Error('the row is not shown')
  const clickWith = (button: 'left' | 'middle') => page.mouse.click(place.x + 5, place.y + 5, { button })
  const opened = page.context().waitForEvent('page')
  await clickWith('middle')
  const other = await opened
  await other.waitForURL(/\/payments\/[0-9a-f-]{36}$/)
  await clickWith('left')
  await page.getByRole('heading', { name: 'Order 118: winter shoes' }).waitFor()
  t.equal(page.url(), other.url())
})
