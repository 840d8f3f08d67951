// Somebody who has just run `npm start`, in a browser: pays from the start page, and tries what else a payer may do.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findChromium, startChromium } from '@paylog/testing/chromium'
import { listen } from '@paylog/testing/fakeServer'
import { freePort, startProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { accessibilityProblems, admin, textOf } from './consoleHarness.ts'

const main = new URL('../../local/src/main.ts', import.meta.url)
const build = fileURLToPath(new URL('../build.ts', import.meta.url))

/** Runs local mode as `npm start` does, with the console built before. */
async function startLocal(t: Test) {
  await promisify(execFile)(process.execPath, [build])
  const home = mkdtempSync(join(tmpdir(), 'paylog-start-'))
  t.teardown(() => rmSync(home, { recursive: true, force: true }))
  const DATA_DIR = join(home, 'data')
  const port = await freePort()
  await startProcess(t, { script: main, env: { DATA_DIR, PORT: String(port) } })
  const origin = `http://127.0.0.1:${port}`
  const read = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${origin}${path}`, { headers: admin, ...init })
    return JSON.parse(await response.text()).data
  }
  return {
    origin,
    paymentNow: (id: string) => read(`/admin/payments/${id}`),
    /** A guest's payment. @param addresses of the shop */
    pay(addresses: object): Promise<{ readonly id: string; readonly redirect_url: string }> {
      const body = { total_cents: 4200, currency: 'EUR', concept: 'Two tickets', provider_id: 'sandbox', ...addresses }
      const headers = { 'content-type': 'application/json' }
      return read('/payments/intents', { method: 'POST', headers, body: JSON.stringify(body) })
    },
    killApi() {
      const { parts } = JSON.parse(readFileSync(join(DATA_DIR, 'runtime.json'), 'utf8'))
      const { pid } = parts.find(({ name }: { readonly name: string }) => name === 'api')
      process.kill(pid, 'SIGKILL')
    },
  }
}

/** A shop on another origin. */
async function startShop(t: Test) {
  const visits: string[] = []
  const server = createServer(({ url = '', headers }, response) => {
    if (!url.includes('favicon')) visits.push(`${url} ${headers.referer ?? 'without a referrer'}`)
    response.end(`<title>Shop</title><h1>The shop's ${url}</h1>`)
  })
  const origin = (await listen(t, server)).replace('127.0.0.1', 'localhost')
  return { visits, addresses: { return_url: `${origin}/thanks?order=7`, cancel_url: `${origin}/cart` } }
}

const chromium = await findChromium()
if (chromium === undefined) t.comment('NOT TESTED: there is no Chromium, no visitor pays: apt-get install chromium')
else {
  const local = await startLocal(t)
  const browser = await startChromium(t, chromium)
  const shop = await startShop(t)

  /** A window. What its policy blocks, and other errors, fail the test. */
  const open = async (t: Test, url: string, javaScriptEnabled: boolean): Promise<Page> => {
    const context = await browser.newContext({ javaScriptEnabled })
    t.teardown(() => context.close())
    const page = await context.newPage()
    page.on('pageerror', (error) => t.fail(`the page throws: ${error.message}`))
    page.on('console', (message) => message.type() === 'error' && t.fail(`the browser says: ${message.text()}`))
    await page.goto(url)
    return page
  }
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

  t.test('a visitor pays from GET / and sees the payment succeeded in the console, with three clicks', async (t) => {
    const startedAt = performance.now()
    // As people type it: the sandbox's page has the other name of this machine.
    const page = await open(t, `${local.origin.replace('127.0.0.1', 'localhost')}/`, true)
    t.match(await textOf(page.getByRole('main')), /api\s*ready.*projector\s*ready.*worker\s*ready.*event store\s*ready/)
    t.same(await accessibilityProblems(page), [])
    await press(page, 'Pay 22.00 EUR')
    await page.getByText('no money moves').waitFor()
    t.same(await accessibilityProblems(page), [])
    await press(page, 'Pay')
    await page.getByRole('status').getByText('succeeded').waitFor()
    t.same(await accessibilityProblems(page), [])
    await page.getByRole('link', { name: 'See it in the console' }).click()
    await page.getByRole('heading', { name: 'Two tickets' }).waitFor()
    await page.getByText('succeeded', { exact: true }).first().waitFor()
    t.ok(performance.now() - startedAt < 60_000, 'in less than a minute')
  })

  t.test(
    'without scripts a payer pays, declines, is asked first, pays later and cancels, and is back at the shop',
    async (t) => {
      const walks = [
        { buttons: ['Pay'], at: '/thanks?order=7', status: 'succeeded' },
        { buttons: ['Decline'], at: '/thanks?order=7', status: 'failed' },
        { buttons: ['Ask me first', 'Approve'], at: '/thanks?order=7', status: 'succeeded' },
        { buttons: ['Ask me first', 'Decline'], at: '/thanks?order=7', status: 'failed' },
        { buttons: ['Pay later'], at: '/thanks?order=7', status: 'processing' },
        { buttons: ['Cancel'], at: '/cart', status: 'pending' },
      ]
      for (const { buttons, at, status } of walks) {
        const { id, redirect_url } = await local.pay(shop.addresses)
        const page = await open(t, redirect_url, false)
        for (const button of buttons) await press(page, button)
        await page.getByRole('heading', { name: `The shop's ${at}` }).waitFor()
        t.equal((await local.paymentNow(id)).status, status, buttons.join(', '))
        t.equal(shop.visits.at(-1), `${at} without a referrer`)
        await page.goBack()
        const shown = await textOf(page.getByRole('main'))
        t.match(shown, /42\.00 EUR/)
        const isOpen = status === 'failed' || status === 'pending'
        const paying = page.getByRole('button', { name: /^(Pay|Approve)$/ })
        t.equal(await paying.count(), isOpen ? 1 : 0, 'Back shows it as it is')
      }
    },
  )

  t.test('a payment that is paid later succeeds in ten seconds, also when the API is killed meanwhile', async (t) => {
    const { id, redirect_url } = await local.pay({})
    const page = await open(t, redirect_url, false)
    await press(page, 'Pay later')
    await page.getByText('is being processed').waitFor()
    local.killApi()
    const status = async () => (await local.paymentNow(id)).status
    await waitFor(async () => (await status().catch(() => undefined)) === 'succeeded', { what: 'the settlement' })
  })
}
