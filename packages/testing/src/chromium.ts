// A headless Chromium for tests of pages.
import { type Browser, chromium } from 'playwright-core'
import type { Test } from 'tap'
import { findProgram } from './findProgram.ts'

/** @returns its path, or undefined on a machine without one: then the test says that it left the page out */
export const findChromium = (): Promise<string | undefined> =>
  findProgram(['chromium', 'chromium-browser', 'google-chrome'], process.env.PATH)

/** Starts a browser, which is closed when the test ends. As root it cannot have its sandbox. */
export async function startChromium(t: Pick<Test, 'teardown'>, executablePath: string): Promise<Browser> {
  // /dev/shm is small in containers, and holds the databases of the tests.
  const args = ['--disable-dev-shm-usage']
  const browser = await chromium.launch({ executablePath, args, chromiumSandbox: process.getuid?.() !== 0 })
  t.teardown(() => browser.close())
  return browser
}
