// The console in front of many payments: of 3,001, or of PAYLOG_TEST_PAYMENTS.
import t from 'tap'
import { admin, consoleTests, textOf } from './consoleHarness.ts'

const dayMs = 86_400_000
/** Also with 100,000 payments. */
const reportMs = 300
const count = Number(process.env.PAYLOG_TEST_PAYMENTS ?? 3_001)
// No webhooks: the worker would deliver 200,000 meanwhile.
const test = await consoleTests(t, { payments: count, env: { EXTERNAL_WEBHOOKS_ENABLED: 'false' } })

test('with many payments a page, a search and the overview are there within seconds', async (t, harness) => {
  const { system, open } = harness
  const page = await open('/payments')
  const row = page.getByText(/customer\d+@example\.com/).first()
  await row.waitFor()
  const shown = Math.min(count, 10_000).toLocaleString('en')
  t.match(await textOf(page.getByRole('main')), shown, 'how many there are, of which at most 10,000 are counted')
  const measured: string[] = []
  const measure = async (what: string, visit: () => Promise<void>) => {
    const startedAt = performance.now()
    await visit()
    const ms = performance.now() - startedAt
    measured.push(`${what} ${Math.round(ms)} ms`)
    t.ok(ms < 5_000, what)
  }
  await measure('first page', async () => {
    await page.goto(`${system.baseUrl}/console/payments`)
    await row.waitFor()
  })
  await measure('search', async () => {
    await page.getByLabel('Search').fill('R-2501')
    await page.getByLabel('Search').press('Enter')
    await page.getByText('1 payment', { exact: true }).waitFor()
  })
  await page.goto(`${system.baseUrl}/console/payments?status=succeeded&orderBy=amount_cents`)
  await row.waitFor()
  for (let number = 0; number < 20; number++)
    await measure(`page ${number + 2}`, async () => {
      const before = page.url()
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.waitForURL((url) => url.href !== before)
      await row.waitFor()
    })
  await measure('overview', async () => {
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByText('Success rate').first().waitFor()
    await page.getByRole('table').first().waitFor()
  })
  const reports: number[] = []
  const [from, to] = [Date.now() - 31 * dayMs, Date.now() + dayMs].map((ms) => new Date(ms).toISOString().slice(0, 10))
  for (let round = 0; round < 5; round++) {
    const startedAt = performance.now()
    const response = await fetch(`${system.baseUrl}/admin/reports?from=${from}&to=${to}`, { headers: admin })
    t.ok(JSON.parse(await response.text()).data.rows[0].payments > 0)
    reports.push(performance.now() - startedAt)
  }
  measured.push(`report of all ${Math.round(Math.min(...reports))} ms`)
  t.ok(Math.min(...reports) < reportMs, 'report of all payments')
  t.comment(measured.join(', '))
})
