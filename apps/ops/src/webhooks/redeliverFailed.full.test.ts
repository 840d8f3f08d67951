// `webhooks redeliver --failed`: all failed deliveries of an endpoint, in batches.
import { setTimeout as sleep } from 'node:timers/promises'
import { waitFor } from '@paylog/testing/waitFor'
import { sourceColumns } from '@paylog/webhooks/deliveries/tables/recordDeliveries'
import t from 'tap'
import { webhooksHarness } from '../testing/webhooksHarness.ts'

type Harness = Awaited<ReturnType<typeof webhooksHarness>>

async function counts(harness: Harness, node: string) {
  const { rows } = await harness.pool.query<{ failed: number; pending: number }>(
    `select count(*) filter (where status = 'failed')::int as failed,
      count(*) filter (where status = 'pending')::int as pending
    from webhooks.all_deliveries where node = $1`,
    [node],
  )
  return rows[0] ?? { failed: 0, pending: 0 }
}

t.test('redeliver --failed --since takes only the matching deliveries of the endpoint', async (t) => {
  const harness = await webhooksHarness(t)
  await harness.pool.query(`insert into webhooks.nodes (name, disabled_at) values ('1', null), ('2', now())`)
  await harness.fail('1', 600)
  await harness.fail('2', 3)
  const since = ['redeliver', '--node', '1', '--failed', '--since', '60m']
  t.same(await harness.run([...since, '--dry-run']), {
    code: 0,
    stdout: '59 deliveries would be sent again.\n',
    stderr: '',
  })
  t.same(await counts(harness, '1'), { failed: 600, pending: 0 }, 'a dry run changes nothing')
  t.match(await harness.run([...since, '--json']), { code: 0, stdout: /"redelivered":59,/ })
  t.same(await counts(harness, '1'), { failed: 541, pending: 59 })
  t.ok((await harness.rows('1')).every(({ status, series_start }) => (status === 'pending') === (series_start === 4)))

  t.match(await harness.run(['redeliver', '--node', '1', '--failed']), {
    code: 0,
    stdout: '541 deliveries will be sent again.\n',
  })
  t.same(await counts(harness, '1'), { failed: 0, pending: 600 })
  t.same(await counts(harness, '2'), { failed: 3, pending: 0 })
  const ofDisabled = await harness.run(['redeliver', '--node', '2', '--failed', '--dry-run'])
  t.equal(
    ofDisabled.stdout,
    '3 deliveries would be sent again, 3 of them once their endpoint is enabled (webhooks enable).\n',
  )
  t.match(await harness.run(['redeliver', '--node', '1', '--failed']), {
    code: 0,
    stdout: '0 deliveries will be sent again.\n',
  })
  t.same(await harness.run(['redeliver', '--node', '7', '--failed']), {
    code: 1,
    stdout: '',
    stderr: 'There is no endpoint 7. Known endpoints: 1, 2.\n',
  })
})

for (const [signal, when, heldMs] of [
  ['SIGINT', 'half way', 0],
  ['SIGINT', 'in a batch that takes more than the ten seconds of a request', 10_500],
  ['SIGKILL', 'half way', 0],
] as const) {
  t.test(`redeliver --failed ended by ${signal} ${when} loses nothing, and sends the rest when repeated`, async (t) => {
    const harness = await webhooksHarness(t)
    await harness.pool.query(`insert into webhooks.nodes (name) values ('1')`)
    await harness.fail('1', 1_200)
    const other = await harness.pool.connect()
    try {
      await other.query('begin; set local idle_in_transaction_session_timeout = 0')
      // The oldest failures come first, so this one is in the second batch, which waits to insert it.
      await other.query(
        `insert into webhooks.deliveries (${sourceColumns}, next_attempt_at)
        select ${sourceColumns}, now() from webhooks.finished_deliveries order by last_attempt_at offset 700 limit 1`,
      )
      const running = harness.start(['redeliver', '--node', '1', '--failed', '--json'])
      await harness.blocked()
      t.same(await counts(harness, '1'), { failed: 700, pending: 500 })
      running.signal(signal)
      if (signal === 'SIGKILL') {
        t.match(await running.ended, { code: null })
        await harness.endSessions()
        await other.query('rollback')
        t.same(await counts(harness, '1'), { failed: 700, pending: 500 })
      } else {
        await waitFor(() => running.errors().includes('Stopping'), { what: 'the message about the signal' })
        await sleep(heldMs)
        await other.query('rollback')
        const { code, stdout, stderr } = await running.ended
        const { complete, redelivered } = JSON.parse(stdout)
        // One request sends what ten seconds allow, and no other one follows.
        if (heldMs === 0) t.same([code, complete, redelivered], [0, true, 1_200], stderr)
        else {
          t.same([code, complete, redelivered], [1, false, 1_000])
          t.match(stderr, /Interrupted\. Run the command again for the rest\.\n$/)
          t.same(await counts(harness, '1'), { failed: 200, pending: 1_000 })
        }
      }
    } finally {
      other.release()
    }
    t.match(await harness.run(['redeliver', '--node', '1', '--failed']), { code: 0 })
    t.same(await counts(harness, '1'), { failed: 0, pending: 1_200 })
  })
}
