// Counts the clicks of a job, as somebody with a mouse makes them.
import type { Page } from 'playwright-core'

/** @returns how many clicks of a mouse the page has had since, over its navigations */
export async function countClicks(page: Page): Promise<() => number> {
  let clicks = 0
  await page.exposeFunction('countClick', () => {
    clicks += 1
  })
  // The second click of a keyboard's Enter, and of a label, has no detail.
  const count = "addEventListener('click', ({ isTrusted, detail }) => isTrusted && detail > 0 && countClick(), true)"
  await page.addInitScript(count)
  await page.evaluate(count)
  return () => clicks
}
