// The console in front of many payments: of 3,001, or of PAYLOG_TEST_PAYMENTS.
import t from 'tap'
import { consoleTests, textOf } from './consoleHarness.ts'

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
  t.comment(measured.join(', '))
})
