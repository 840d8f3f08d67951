// Looks at each page with a thousand payments: what it shows, whether everybody can use it, and how it fits a phone. With
// CONSOLE_SCREENSHOTS=DIRECTORY it also writes a picture of each.
// biome-ignore-all lint/style/noProcessEnv: only for whoever looks at the pictures.
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { accessibilityProblems, type ConsoleHarness, textOf } from './consoleHarness.ts'
import { openPayment, settlePayment } from './payments.ts'

const screenshots = process.env.CONSOLE_SCREENSHOTS

type ShownPage = { readonly path: string; readonly heading: string; readonly shows: RegExp }

/** Every page of the console, apart from those of a single payment, delivery and job. */
export const pages: readonly ShownPage[] = [
  {
    path: '/',
    heading: 'Overview',
    shows: /needs? a look.*Received.*EUR.*Refunded.*Success rate.*Needs attention.*another amount/s,
  },
  { path: '/payments', heading: 'Payments', shows: /1,00\d payments.*customer99\d@example\.com/s },
  {
    path: '/payments?status=failed&currency=JPY',
    heading: 'Payments',
    shows: /user-\d+.*JPY.*failed/s,
  },
  { path: '/payments?search=customer500%40example.com', heading: 'Payments', shows: /1 payment.*Order 500/s },
  { path: '/refunds', heading: 'Refunds', shows: /\d+ refunds.*Sandbox.*succeeded/s },
  { path: '/disputes', heading: 'Disputes', shows: /Fraudulent.*Sandbox.*JPY.*open/s },
  { path: '/customers', heading: 'Customers', shows: /Who paid last.*customer99\d@example\.com.*guest/s },
  { path: '/customers/user-1', heading: 'User user-1', shows: /No saved payment methods.*No addresses/s },
  // As version 1.0 linked to it.
  { path: '/owners?guest_email=customer0%40example.com', heading: 'customer0@example.com', shows: /No addresses/ },
  { path: '/products', heading: 'Products', shows: /No products yet/ },
  { path: '/webhooks', heading: 'Webhooks', shows: /healthy.*payment\.created/s },
  {
    path: '/webhooks/endpoints/1',
    heading: '127.0.0.1',
    shows: /healthy.*100 %.*tried again after 5 s.*payment\.created/s,
  },
  { path: '/webhooks/new', heading: 'Add an endpoint', shows: /WEBHOOK_2_ENABLED/ },
  { path: '/reports', heading: 'Reports', shows: /Received.*Sandbox, EUR.*not known yet/s },
  { path: '/reports?currency=EUR', heading: 'Reports', shows: /Balance before.*Paid out/s },
  { path: '/providers', heading: 'Providers', shows: /Sandbox.*Stripe.*not enabled.*STRIPE_SECRET_KEY/s },
  {
    path: '/system',
    heading: 'System',
    shows: /Everything runs.*projector.*signed.*payments.*up to date.*payments_v1/s,
  },
  { path: '/audit', heading: 'Audit', shows: /actions of administrators.*Verify an export/s },
  { path: '/privacy', heading: 'Privacy', shows: /Erase a person.*Erasures/s },
]

/** Dark colours do not depend on the width. */
const windows = {
  wide: { viewport: { width: 1280, height: 900 }, colorSchemes: ['light', 'dark'] },
  narrow: { viewport: { width: 390, height: 800 }, colorSchemes: ['light'] },
} as const

export async function lookAtPages(t: Test, { system, open }: ConsoleHarness, size: keyof typeof windows) {
  const { viewport, colorSchemes } = windows[size]
  const id = await openPayment(system, { email: 'buyer@example.com', total_cents: 4_200 })
  await settlePayment(system, id)
  const all = [
    ...pages,
    { path: `/payments/${id}`, heading: 'Tickets', shows: /Received.*Succeeded.*payment\.succeeded to 127/s },
  ]
  const page = await open('/payments', { viewport })
  await page.getByRole('heading', { name: 'Payments', level: 1 }).waitFor()
  for (const { path, heading, shows } of all) {
    const title = `${path} at ${viewport.width} px`
    await page.goto(`${system.baseUrl}/console${path}`)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    const main = page.getByRole('main')
    await waitFor(async () => shows.test(await textOf(main)), { what: title, timeoutMs: 10_000 })
    await page.waitForLoadState('networkidle')
    const width = await page.evaluate('document.documentElement.scrollWidth')
    t.ok(Number(width) <= viewport.width, `${title}: is ${width} px wide`)
    for (const colorScheme of colorSchemes) {
      await page.emulateMedia({ colorScheme })
      // Other colours have no other names and roles.
      const rules = colorScheme === 'dark' ? ['color-contrast'] : undefined
      t.same(await accessibilityProblems(page, rules), [], `${title}, ${colorScheme}: accessibility`)
      if (screenshots !== undefined)
        await page.screenshot({ path: `${screenshots}/${fileName(`${title} ${colorScheme}`)}`, fullPage: true })
    }
  }
}

const fileName = (title: string) => `${title.replaceAll(/[^a-z0-9]+/gi, '-')}.png`
