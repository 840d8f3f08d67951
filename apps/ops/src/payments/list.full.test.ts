import { addPaymentTo, createLogFixture, user } from '@paylog/projections/testing/logFixture'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { projectionsHarness } from '../testing/projectionsHarness.ts'
import { runOps } from '../testing/runOps.ts'

const { env, record, startProjector, caughtUp, pool } = await projectionsHarness(t)
const list = (...args: string[]) => runOps(['payments', 'list', ...args], env)

const log = createLogFixture()
const ids = [user('u1'), user('u2'), user('u1')].map((owner) => addPaymentTo(log, owner))
await record(log.events)
await startProjector()
await waitFor(async () => (await pool.query('select from read_models.payments')).rowCount === ids.length, {
  what: 'the payments in the read model',
})
await caughtUp()

async function listed(...args: string[]) {
  const { code, stdout, stderr } = await list('--json', ...args)
  t.same([code, stderr], [0, ''])
  const payments: { id: string }[] = JSON.parse(stdout).payments
  return { payments, ids: payments.map(({ id }) => id) }
}

t.test('payments list shows the payments of all owners, the newest first', async (t) => {
  const all = await listed()
  t.same(all.ids.toSorted(), ids.toSorted())
  const ofProvider = { provider_id: String, provider_intent_id: String, provider_payment_id: null }
  const shown = { status: 'pending', amount_cents: Number, currency: 'EUR', guest_email: null, reference_code: null }
  t.match(all.payments[0], { created_at: /Z$/, ...shown, ...ofProvider })
  t.equal(Object.keys(all.payments[0] ?? {}).length, 10)
  t.same((await listed('--limit', '2')).ids, all.ids.slice(0, 2))
  const { code, stdout } = await list()
  t.equal(code, 0)
  for (const id of ids) t.match(stdout, id)
})

t.test('payments list finds a payment by id, and filters by status, provider and time', async (t) => {
  const [first = ''] = ids
  for (const [args, expected] of [
    [['--search', first.toUpperCase()], [first]],
    [['--search', `pi_${first}`], [first]],
    [['--search', "' or true --"], []],
    [['--provider', 'nowhere'], []],
    [['--status', 'canceled'], []],
    [['--since', '1h'], []],
  ] as const)
    t.same((await listed(...args)).ids, expected, args.join(' '))
  t.match(await list('--provider', 'nowhere'), { code: 0, stdout: 'There is no such payment.\n' })
})

t.test('payments list with wrong arguments exits with 2', async (t) => {
  for (const args of [['--status', 'paid'], ['--limit', '0'], ['--limit', '1001'], ['--since', 'soon'], ['x']])
    t.match(await list(...args), { code: 2, stdout: '', stderr: /Usage: .* payments list / }, args.join(' '))
})
