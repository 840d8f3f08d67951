import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import { recordedDeeds } from '@paylog/workflows/testing/recordedDeeds'
import t from 'tap'
import { endpointVariables, webhooksHarness } from '../testing/webhooksHarness.ts'

const longTimeout = { timeoutMs: 30_000 }

t.test('redelivering a failed delivery keeps its id and body and starts a new retry schedule', async (t) => {
  const harness = await webhooksHarness(t)
  const failures = 3
  const endpoint = await startFakeEndpoint(t, (response, index) => {
    response.statusCode = index < failures ? 500 : 200
    response.end('ok')
  })
  await harness.startWorker(endpointVariables('1', endpoint.url))
  await harness.pay(1)
  const ended = async (status: string) => {
    const [row] = await harness.rows('1')
    return row?.status === status && row
  }
  // One retry makes two attempts.
  const failed = await waitFor(() => ended('failed'), { what: 'the failure', ...longTimeout })
  t.equal(failed.attempts, 2)

  const dry = await harness.run(['redeliver', failed.id, '--dry-run'])
  t.match(dry, { code: 0, stdout: '1 delivery would be sent again.\n' })
  t.same(await harness.rows('1'), [failed], 'a dry run changes nothing')

  t.match(await harness.run(['redeliver', failed.id]), { code: 0, stdout: '1 delivery will be sent again.\n' })
  // The third attempt fails too, so that only a new schedule leads to the fourth.
  const succeeded = await waitFor(() => ended('succeeded'), { what: 'the success', ...longTimeout })
  t.match(succeeded, { id: failed.id, body: failed.body, attempts: 4, next_attempt_at: null })
  t.same(
    endpoint.received.map(({ id, body }) => ({ id, body })),
    Array.from({ length: 4 }, () => ({ id: failed.id, body: failed.body })),
  )

  t.match(
    (await recordedDeeds(harness.store)).map(({ data }) => data),
    [{ action: 'redeliver_webhook', target: { kind: 'webhook_delivery', id: failed.id } }],
  )
  const again = await harness.run(['redeliver', failed.id.toUpperCase(), failed.id, '--json'])
  t.same(JSON.parse(again.stdout), { complete: true, dry_run: false, redelivered: 1, held: 0, unknown: [] })
  await waitFor(() => endpoint.received.length === 5, { what: 'the one that had succeeded', ...longTimeout })
  t.match(await waitFor(() => ended('succeeded'), { what: 'its record', ...longTimeout }), { attempts: 5 })
})

t.test('redelivering a pending delivery sends it at once, and once', async (t) => {
  const harness = await webhooksHarness(t)
  const endpoint = await startFakeEndpoint(t, (response, index) => {
    response.statusCode = index === 0 ? 500 : 200
    response.end('ok')
  })
  await harness.startWorker(endpointVariables('1', endpoint.url, { RETRY_SCHEDULE: '1h' }))
  await harness.pay(1)
  const tried = async () => {
    const [row] = await harness.rows('1')
    return row?.attempts === 1 && row
  }
  const { id } = await waitFor(tried, { what: 'the first attempt', ...longTimeout })
  t.match(await harness.run(['redeliver', id]), { code: 0, stdout: '1 delivery will be sent again.\n' })
  const succeeded = async () => (await harness.rows('1'))[0]?.status === 'succeeded'
  await waitFor(succeeded, { what: 'the second attempt', ...longTimeout })
  t.same(
    endpoint.received.map((webhook) => webhook.id),
    [id, id],
  )
})
