// The console in a real browser: Debian's Chromium, against a running system. The pages run in the browser and have types of
// their own; these tests run in Node.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findChromium, startChromium } from '@paylog/testing/chromium'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { startSystem, type TestSystem } from '@paylog/testing/system'
import { waitFor } from '@paylog/testing/waitFor'
import type { Browser, Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { writePayments } from './paymentLog.ts'

export const admin = { 'x-session-id': 'demo-admin-session' }

export type ConsoleHarness = {
  readonly system: TestSystem
  readonly endpoint: Awaited<ReturnType<typeof startFakeEndpoint>>
  readonly browser: Browser
  /** A new window, signed in unless the options say otherwise. Errors on its console and in its scripts fail the test. */
  open(path: string, options?: WindowOptions): Promise<Page>
}

export type WindowOptions = Parameters<Browser['newContext']>[0] & {
  readonly signedIn?: boolean
  /** The administrator's by default. */
  readonly session?: string
  /** Failed requests that the test causes itself: the browser reports each as an error. */
  readonly expects?: RegExp
}

type Options = {
  readonly payments?: number
  /** The end of the 30 days of the payments, now by default. */
  readonly paymentsUntil?: Date
  readonly env?: Readonly<Record<string, string>>
  /** Of the webhook endpoint. */
  readonly respond?: Parameters<typeof startFakeEndpoint>[1]
}

/**
 * Starts one system and one browser for all tests of a file.
 * @returns declares a test; where there is no Chromium, one that is skipped and says so
 */
export async function consoleTests(t: Test, options: Options = {}) {
  const chromium = await findChromium()
  const harness = chromium === undefined ? undefined : await consoleHarness(t, chromium, options)
  return (title: string, run: (t: Test, harness: ConsoleHarness) => Promise<void>) =>
    harness === undefined
      ? t.test(title, { skip: 'there is no Chromium: apt-get install chromium' }, async () => undefined)
      : t.test(title, { timeout: 240_000 }, async (t) => {
          await run(t, harness)
          // Otherwise they keep asking, while later tests stop the API.
          await Promise.all(harness.browser.contexts().map((context) => context.close()))
        })
}

/**
 * Starts the system with the built console, with one webhook endpoint, and a browser. Everything ends with the test.
 * @param options `payments` are written into the log and can be read when this returns
 */
async function consoleHarness(
  t: Test,
  chromium: string,
  { payments = 0, paymentsUntil, env = {}, respond }: Options,
): Promise<ConsoleHarness> {
  await promisify(execFile)(process.execPath, [fileURLToPath(new URL('../build.ts', import.meta.url))])
  const endpoint = await startFakeEndpoint(t, respond)
  const system = await startSystem(t, {
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: endpoint.url,
    WEBHOOK_1_SECRET: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
    RATE_LIMIT_WEBHOOK_TESTS_PER_MINUTE: '1000',
    ...env,
  })
  await writePayments(system, payments, paymentsUntil)
  await waitFor(async () => (await totalPayments(system)) >= Math.min(payments, maxTotal), {
    what: 'the payments in the list',
    timeoutMs: 120_000,
  })
  const browser = await startChromium(t, chromium)
  return {
    system,
    endpoint,
    browser,
    async open(path, { signedIn = true, session = 'demo-admin-session', expects, ...options } = {}) {
      const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Madrid', ...options })
      const page = await context.newPage()
      failOnErrors(t, page, expects)
      const fragment = signedIn ? `#session=${session}` : ''
      await page.goto(`${system.baseUrl}/console${path}${fragment}`)
      return page
    },
  }
}

/** The list counts up to this many. */
const maxTotal = 10_000

async function totalPayments({ baseUrl }: TestSystem): Promise<number> {
  const response = await fetch(`${baseUrl}/admin/payments?limit=1`, { headers: admin })
  return JSON.parse(await response.text()).meta.total
}

function failOnErrors(t: Test, page: Page, expects: RegExp | undefined): void {
  page.on('pageerror', (error) => t.fail(`the page throws: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() !== 'error' || expects?.test(message.text())) return
    t.fail(`the console logs: ${message.text()} (${message.location().url})`)
  })
}

/** Its text with single spaces: amounts have others between currency and number. */
export async function textOf(locator: Locator): Promise<string> {
  return ((await locator.textContent()) ?? '').replaceAll(/\s+/g, ' ')
}

/** Sets a filter of the list that is shown: a text, or the label of a choice. */
export async function addFilter(page: Page, label: string, value: string): Promise<void> {
  await page.getByRole('button', { name: 'Add filter' }).click()
  const editor = page.getByRole('dialog')
  await editor.getByRole('button', { name: label, exact: true }).click()
  const choice = editor.getByRole('button', { name: value, exact: true })
  await editor.getByRole('textbox').or(choice).first().waitFor()
  if (await choice.isVisible()) return await choice.click()
  await editor.getByRole('textbox').fill(value)
  await editor.getByRole('button', { name: 'Apply' }).click()
}

/**
 * What axe finds, of its serious and critical rules. The page's policy stays in force, so axe comes in by the debugger.
 * @param rules all of them without it
 */
export async function accessibilityProblems(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  const { default: axe } = await import('axe-core')
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source)
  const { violations } = await page.evaluate(
    (options) => (globalThis as unknown as { axe: Axe }).axe.run(options),
    rules === undefined ? {} : { runOnly: [...rules] },
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

type Axe = { run(options: { readonly runOnly?: string[] }): Promise<{ readonly violations: readonly Violation[] }> }
type Violation = { readonly id: string; readonly impact: string; readonly nodes: readonly { readonly html: string }[] }
