// The documentation page in a real browser.
import { findChromium, startChromium } from '@paylog/testing/chromium'
import { startProcess } from '@paylog/testing/processes'
import t from 'tap'

// Serving the page connects to none of these.
const env = {
  PORT: '0',
  DATABASE_URL: 'postgres://127.0.0.1:1/paylog',
  EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
  AUTH_URL: 'http://127.0.0.1:1',
}
const script = new URL('./main.ts', import.meta.url)
const demoPattern = /Demo credentials/

t.test('only DOCS_DEMO_CREDENTIALS=true shows the demo credentials', async (t) => {
  const { detail } = await startProcess(t, { script, env })
  t.notMatch(await (await fetch(`${detail.url}/openapi.json`)).text(), demoPattern)
  const demo = await startProcess(t, { script, env: { ...env, DOCS_DEMO_CREDENTIALS: 'true' } })
  const shown = await (await fetch(`${demo.detail.url}/openapi.json`)).text()
  for (const credential of ['demo-session', 'demo-admin-session', 'demo-guest-token']) t.match(shown, credential)
})

const chromium = await findChromium()
if (chromium === undefined) t.comment('NOT TESTED: there is no chromium, so the documentation page is left out')
else
  t.test(
    'the documentation page has the demo credentials, a filter and named schemas, and stays authorized',
    async (t) => {
      const { detail } = await startProcess(t, { script, env: { ...env, DOCS_DEMO_CREDENTIALS: 'true' } })
      const browser = await startChromium(t, chromium)
      const page = await browser.newPage()
      const errors: string[] = []
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
      page.on('pageerror', (error) => errors.push(error.message))
      const open = async () => {
        await page.goto(`${detail.url}/docs`)
        await page.locator('.opblock').first().waitFor()
      }

      await open()
      await page.getByText('demo-admin-session').first().waitFor()
      await page.locator('.models').getByText('Payment', { exact: true }).waitFor()
      await page.locator('input.operation-filter-input').fill('addresses')
      await page.locator('#operations-tag-products').waitFor({ state: 'detached' })
      t.ok(await page.locator('#operations-addresses-listAddresses').isVisible(), 'the filter leaves the addresses')

      await page.locator('.btn.authorize').click()
      await page.locator('#api_key_value').first().fill('demo-session')
      await page.getByRole('button', { name: 'Apply credentials' }).first().click()
      await open()
      const request = page.waitForRequest(`${detail.url}/addresses?**`)
      await page.locator('#operations-addresses-listAddresses .opblock-summary-control').click()
      await page.getByRole('button', { name: 'Try it out' }).click()
      await page.getByRole('button', { name: 'Execute' }).click()
      t.equal((await request).headers()['x-session-id'], 'demo-session', 'after a reload')
      t.same(
        errors.filter((error) => !error.includes('503')),
        [],
      )
    },
  )
