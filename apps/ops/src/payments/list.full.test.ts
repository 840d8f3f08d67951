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

const listed = async (...args: string[]): Promise<{ id: string }[]> => {
  const { code, stdout, stderr } = await list('--json', ...args)
  t.same([code, stderr], [0, ''])
  return JSON.parse(stdout).payments
}

t.test('payments list shows the payments of all owners, the newest first', async (t) => {
  const all = await listed()
  t.same(all.map(({ id }) => id).toSorted(), ids.toSorted())
  t.match(all[0], { created_at: /Z$/, status: String, amount_cents: Number, currency: String, provider_id: String })
  t.same(
    (await listed('--limit', '2')).map(({ id }) => id),
    all.slice(0, 2).map(({ id }) => id),
  )
  const { code, stdout } = await list()
  t.equal(code, 0)
  for (const id of ids) t.match(stdout, id)
})

t.test('payments list finds a payment by id, and filters by status, provider and time', async (t) => {
  const [first] = ids
  t.same(
    (await listed('--search', String(first).toUpperCase())).map(({ id }) => id),
    [first],
  )
  t.same(await listed('--search', "' or true --"), [])
  t.same(await listed('--provider', 'nowhere'), [])
  t.same(await listed('--status', 'canceled'), [])
  t.same(await listed('--since', '1h'), [], 'the fixture is older')
  t.match(await list('--provider', 'nowhere'), { code: 0, stdout: 'There is no such payment.\n' })
})

t.test('payments list with wrong arguments exits with 2', async (t) => {
  for (const args of [['--status', 'paid'], ['--limit', '0'], ['--limit', '1001'], ['--since', 'soon'], ['x']])
    t.match(await list(...args), { code: 2, stdout: '', stderr: /Usage: .* payments list / }, args.join(' '))
})
