// Whoever may only look presses every button of every page.
import { operationRoutes } from '@paylog/client/operations'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { admin, consoleTests } from './consoleHarness.ts'
import { openPayment, settlePayment } from './payments.ts'
import { buttonNames, calledOperations, pressAll } from './pressedButtons.ts'
import { pages } from './shownPages.ts'

const test = await consoleTests(t, { payments: 60, env: { RIGHTS: 'user=read' } })

test('whoever may only read finds no button that the API would refuse', async (t, { system, open }) => {
  const id = await openPayment(system, { email: 'buyer@example.com', total_cents: 4_200 })
  await settlePayment(system, id)
  const post = { method: 'POST', headers: admin }
  const job = JSON.parse(await (await fetch(`${system.baseUrl}/admin/projections/payments/verify`, post)).text()).data
    .id
  const deliveries = await fetch(`${system.baseUrl}/admin/webhook-deliveries?payment_id=${id}`, { headers: admin })
  const delivery = JSON.parse(await deliveries.text()).data[0].id
  const single = [`/payments/${id}`, `/system/jobs/${job}`, `/webhooks/deliveries/${delivery}`]

  // A refused request is an error on the console, which fails the test too.
  const page = await open('/', { session: 'demo-session' })
  const called = calledOperations(page)
  const names: string[] = []
  for (const path of [...pages.map((shown) => shown.path).filter((each) => !each.includes('?')), ...single])
    names.push(...(await pressAll(page, `${system.baseUrl}/console${path}`)))
  for (const operation of called) {
    const rights: readonly string[] = operationRoutes[operation].rights
    t.ok(rights.length === 0 || rights.includes('read'), `${operation} needs ${rights.join(' or ')}`)
  }
  t.ok(called.has('refreshPayment') && called.has('testWebhooks'), 'what may be done was done')

  // An administrator with all rights sees more on these pages.
  const other = await open('/', { session: 'demo-admin-session' })
  const own = new Set(names)
  const withMore = [
    '/payments',
    '/products',
    '/providers',
    '/system',
    '/audit',
    '/webhooks/endpoints/1',
    `/payments/${id}`,
  ]
  for (const path of withMore) {
    await other.goto(`${system.baseUrl}/console${path}`)
    const hasMore = async () => (await buttonNames(other.getByRole('main'))).some((name) => !own.has(name))
    await waitFor(hasMore, { what: `a button on ${path} that is hidden from others` })
  }
})
