import { createLog } from '@paylog/runtime/telemetry/log'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import { recordingPool } from '@paylog/testing/recordingPool'
import { testPool } from '@paylog/testing/testPool'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { areCredentialsRefused, createActivityRecorder, readActivity } from './activity.ts'

const log = createLog({ app: 'test', level: 'silent' })
const minuteMs = 60_000

/** A recorder with a clock of its own; `stored` is what is known of Stripe after everything was written. */
async function recorderHarness(t: Test) {
  const pool = testPool(t, (await createMigratedDatabase(t)).databaseUrl)
  const { db, queries } = recordingPool(pool)
  const clock = { ms: Date.now() }
  const start = () => createActivityRecorder({ db, now: () => new Date(clock.ms), log, pauseMs: 20 })
  const stored = async () => (await readActivity(pool)).find(({ provider_id }) => provider_id === 'stripe')
  return { pool, clock, start, stored, queries }
}

t.test('refused signatures are counted until a notification is accepted, and for a day', async (t) => {
  const { clock, start, stored } = await recorderHarness(t)
  const recorder = start()
  t.equal(await stored(), undefined)
  for (const _ of Array(3)) recorder.refusedSignature('stripe')
  clock.ms += minuteMs
  recorder.refusedSignature('stripe')
  await recorder.close()
  const refused = await stored()
  t.match(refused, { signatures_refused: 4, signatures_refused_lately: 4, notified_at: null })
  t.equal(refused?.signature_refused_at?.getTime(), clock.ms)

  const next = start()
  next.refusedSignature('stripe')
  next.notified('stripe', 'payment_intent.succeeded')
  next.refusedSignature('stripe')
  await next.close()
  t.match(await stored(), {
    signatures_refused: 1,
    signatures_refused_lately: 6,
    notified_type: 'payment_intent.succeeded',
    notified_at: new Date(clock.ms),
  })
})

t.test('refused signatures of the day before are no longer counted, and their rows are used again', async (t) => {
  const { pool, clock, start, stored } = await recorderHarness(t)
  const [yesterday, today] = [clock.ms - 1_440 * minuteMs, clock.ms]
  for (const ms of [yesterday, today]) {
    clock.ms = ms
    const recorder = start()
    recorder.refusedSignature('stripe')
    await recorder.close()
  }
  t.match(await stored(), { signatures_refused: 2, signatures_refused_lately: 1 })
  t.match(await pool.query('select count::int from providers.refused_signatures'), { rows: [{ count: 1 }] })
})

t.test('any number of refused signatures causes few statements and few rows, and none is lost', async (t) => {
  const { pool, start, stored, queries } = await recorderHarness(t)
  const recorder = start()
  for (const _ of Array(100_000)) recorder.refusedSignature('stripe')
  await waitFor(async () => (await stored())?.signatures_refused === 100_000, { what: 'all of them' })
  await recorder.close()
  t.ok(queries.length <= 3, `${queries.length} statements`)
  const { rowCount } = await pool.query('select from providers.refused_signatures')
  t.ok(rowCount !== null && rowCount <= 2, `${rowCount} rows`)
})

t.test('credentials are refused until the provider accepts some, and what it said stays', async (t) => {
  const { clock, start, stored } = await recorderHarness(t)
  const recorder = start()
  const call = (credentials: 'accepted' | { refusal: string } | undefined) => {
    clock.ms += 1
    recorder.called({ provider: 'stripe', credentials })
  }
  const refusal = 'Invalid API Key provided: …'
  call('accepted')
  call({ refusal })
  call(undefined)
  await recorder.close()
  const refused = await stored()
  t.match(refused, { credentials_refusal: refusal, credentials_refused_at: new Date(clock.ms - 1) })
  t.equal(refused && areCredentialsRefused(refused), true)

  // Another process, which was told of it earlier.
  const late = start()
  clock.ms -= minuteMs
  late.called({ provider: 'stripe', credentials: { refusal: 'an older one' } })
  await late.close()
  t.match(await stored(), { credentials_refusal: refusal })

  const after = start()
  clock.ms += 2 * minuteMs
  after.called({ provider: 'stripe', credentials: 'accepted' })
  await after.close()
  const accepted = await stored()
  t.equal(accepted && areCredentialsRefused(accepted), false)
  t.match(accepted, { credentials_refusal: refusal })
})

t.test('what could not be written is written later, with what came meanwhile', async (t) => {
  const { pool, start, stored, queries } = await recorderHarness(t)
  await pool.query('alter table providers.activity rename to elsewhere')
  const recorder = start()
  recorder.refusedSignature('stripe')
  recorder.notified('stripe', 'first')
  await waitFor(() => queries.length > 2, { what: 'attempts' })
  recorder.refusedSignature('stripe')
  await pool.query('alter table providers.elsewhere rename to activity')
  await waitFor(async () => (await stored())?.signatures_refused === 1, { what: 'the activity' })
  t.match(await stored(), { notified_type: 'first', signatures_refused_lately: 2 })
  await recorder.close()
})
