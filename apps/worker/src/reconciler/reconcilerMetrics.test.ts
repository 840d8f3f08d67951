import { createLog } from '@paylog/runtime/telemetry/log'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { workerDatabase } from '@paylog/webhooks/testing/workerDatabase'
import t, { type Test } from 'tap'
import { measureReconciler } from './reconcilerMetrics.ts'

async function figures(t: Test, providers: readonly string[], rows: readonly string[]) {
  const log = createLog({ app: 'test', level: 'silent' })
  const { pool } = await workerDatabase(t, { max: 2, log })
  for (const row of rows)
    await pool.query(
      `insert into webhooks.follow_ups
         (subject, provider_id, finish_at, ask_at, watch_at, pauses, correlation_id, event_id)
       values (gen_random_uuid()::text, ${row}, 'c', gen_random_uuid())`,
    )
  const metrics = createMetrics()
  measureReconciler(metrics, { pool, providers, log })
  const page = await metrics.registry.metrics()
  return (name: string, provider: string) => {
    const found = new RegExp(`^follow_ups_${name}\\{provider="${provider}"\\} (.+)$`, 'm').exec(page)?.[1]
    return found === undefined ? undefined : Number(found)
  }
}

t.test('urgent follow-ups are counted by provider, watched ones are not', async (t) => {
  const of = await figures(
    t,
    ['stripe', 'paypal'],
    [
      `'stripe', now() + interval '1 minute', null, null, 1`,
      `'stripe', null, now() + interval '1 minute', null, 5`,
      `'stripe', now() + interval '1 minute', null, now(), 6`,
      `'stripe', null, null, now() - interval '1 hour', 9`,
    ],
  )
  t.equal(of('open', 'stripe'), 3)
  t.equal(of('unsettled', 'stripe'), 1, 'unsettled after the sixth pause')
  t.equal(of('overdue_seconds', 'stripe'), 0)
  t.same([of('open', 'paypal'), of('unsettled', 'paypal'), of('overdue_seconds', 'paypal')], [0, 0, 0])
})

t.test('the follow-up metrics include overdue follow-ups of disabled providers', async (t) => {
  const late = `null, now() - interval '100 seconds', null, 0`
  const of = await figures(
    t,
    ['stripe'],
    [`'paypal', ${late}`, `'paypal', now() - interval '5 seconds', null, null, 1`],
  )
  t.equal(of('open', 'paypal'), 2)
  t.ok(Math.abs((of('overdue_seconds', 'paypal') ?? 0) - 100) < 20)
  t.equal(of('open', 'stripe'), 0)
})
