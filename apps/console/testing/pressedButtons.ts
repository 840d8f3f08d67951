// Presses every button of a page, as somebody who tries what it does, and notes what the console asks the API for.
import type { OperationId } from '@paylog/client/client'
import { operationRoutes } from '@paylog/client/operations'
import { waitFor } from '@paylog/testing/waitFor'
import type { Locator, Page } from 'playwright-core'

const buttonsIn = (place: Locator) => place.locator('button:visible:enabled')

/** The names of the buttons that can be pressed, each once: rows of a table have the same ones. */
export async function buttonNames(place: Locator): Promise<readonly string[]> {
  const names: string[] = []
  for (const button of await buttonsIn(place).all())
    names.push(((await button.getAttribute('aria-label')) ?? (await button.textContent()) ?? '').trim())
  return [...new Set(names)].filter((name) => name !== '')
}

/** The operations that the page asks for from now on. */
export function calledOperations(page: Page): ReadonlySet<OperationId> {
  const called = new Set<OperationId>()
  page.on('request', (request) => {
    const segments = request
      .url()
      .replace(/[?#].*/, '')
      .split('/')
      .slice(3)
    const operation = segments[0] === 'console' ? undefined : operationOf(request.method(), segments)
    if (operation !== undefined) called.add(operation)
  })
  return called
}

/** The route with the most segments in common; a parameter is any segment. */
function operationOf(method: string, segments: readonly string[]): OperationId | undefined {
  const found = Object.entries(operationRoutes).flatMap(([id, route]) => {
    const wanted = route.path.split('/').slice(1)
    const isSame = wanted.length === segments.length && route.method === method.toLowerCase()
    const literal = wanted.filter((segment, at) => segment === segments[at]).length
    const fits = isSame && wanted.every((segment, at) => segment.startsWith('{') || segment === segments[at])
    return fits ? [{ id: id as OperationId, literal }] : []
  })
  return found.toSorted((a, b) => b.literal - a.literal)[0]?.id
}

/**
 * Presses each button of the page's content, and confirms each dialog that it opens. It waits for no response: what the console asks
 * for is known when it asks.
 * @returns the names of the buttons
 */
export async function pressAll(page: Page, url: string): Promise<readonly string[]> {
  const main = page.getByRole('main')
  const show = async () => {
    await page.goto(url)
    await main.getByRole('heading', { level: 1 }).waitFor()
    await waitFor(async () => (await main.getByRole('status', { name: /^Loading/ }).count()) === 0, { what: url })
  }
  await show()
  const names = await buttonNames(main)
  for (const name of names) {
    const button = buttonsIn(main)
      .and(page.getByRole('button', { name, exact: true }))
      .first()
    if (!(await button.isVisible())) continue
    await button.click()
    await rendered(page)
    await confirmAll(page)
    // A filter, a page, or the result of something that was done.
    if (page.url() !== url || (await page.getByRole('dialog').count()) > 0) await show()
  }
  return names
}

/** Two frames: the page shows what a click has changed. */
const rendered = (page: Page) =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')

/** Presses the button that sends what was entered, in the dialog that is open. */
async function confirmAll(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog')
  if ((await dialog.count()) === 0) return
  const confirm = dialog.locator('button[type=submit]:visible:enabled')
  if ((await confirm.count()) > 0) await confirm.first().click()
  await page.keyboard.press('Escape')
  await rendered(page)
}
