import t from 'tap'
import { endpointVariables, webhooksHarness } from '../testing/webhooksHarness.ts'

const nowhere = 'http://127.0.0.1:9'

t.test('webhooks backfill creates what is missing with the ids of the worker, without tests', async (t) => {
  const { pay, recordTests, run, rows, idsOf } = await webhooksHarness(t)
  const one = endpointVariables('1', nowhere)
  await pay(3)
  await recordTests()
  const backfill = async (...more: string[]) => await run(['backfill', '--node', '1', '--from', '0', ...more], one)
  t.match(await backfill('--dry-run'), { code: 0, stdout: '6 events: 3 deliveries are missing, 0 already there.\n' })
  t.same(await rows('1'), [], 'a dry run changes nothing')
  t.match(await backfill(), { code: 0, stdout: '6 events: 3 deliveries created, 0 already there.\n' })
  t.same((await rows('1')).map(({ id }) => id).toSorted(), (await idsOf('1', one)).toSorted())
  t.match(JSON.parse((await backfill('--json')).stdout), { complete: true, dry_run: false, missing: 0, present: 3 })
})

t.test('webhooks backfill starts with the event at --from', async (t) => {
  const harness = await webhooksHarness(t)
  const one = endpointVariables('1', nowhere)
  await harness.pay(3)
  const events = await harness.events()
  const from = events[3]
  if (from === undefined) throw new Error('there are six events')
  const ended = await harness.run(['backfill', '--node', '1', '--from', String(from.position.commit), '--json'], one)
  const last = events.at(-1)?.position.commit.toString()
  t.same(JSON.parse(ended.stdout), {
    complete: true,
    dry_run: false,
    events: 3,
    too_old: 0,
    missing: 2,
    present: 0,
    position: last,
  })
  const end = ['--from', `${last}`]
  t.match(JSON.parse((await harness.run(['backfill', '--node', '1', ...end, '--json'], one)).stdout), { events: 1 })
})

t.test('webhooks backfill skips events older than the retention', async (t) => {
  const harness = await webhooksHarness(t)
  await harness.pay(1)
  const backfill = async (WEBHOOK_LOG_RETENTION: string) => {
    const variables = { ...endpointVariables('1', nowhere), WEBHOOK_LOG_RETENTION }
    return (await harness.run(['backfill', '--node', '1', '--from', '0'], variables)).stdout
  }
  t.equal(
    await backfill('1ms'),
    '2 events (2 older than WEBHOOK_LOG_RETENTION): 0 deliveries created, 0 already there.\n',
  )
  t.equal(await backfill('0'), '2 events: 1 delivery created, 0 already there.\n')
})

t.test('webhooks backfill with invalid arguments fails and changes nothing', async (t) => {
  const harness = await webhooksHarness(t)
  const one = endpointVariables('1', nowhere)
  t.match(await harness.run(['backfill', '--node', '2', '--from', '0'], one), {
    code: 1,
    stderr: 'Endpoint 2 is not configured here. Configured: 1. Set the same variables as for the worker.\n',
  })
  t.match(await harness.run(['backfill', '--node', '2', '--from', '0']), {
    code: 1,
    stderr: 'Endpoint 2 is not configured here. No endpoint is. Set the same variables as for the worker.\n',
  })
  t.match(await harness.run(['backfill', '--node', '1', '--from', '0'], { ...one, WEBHOOK_1_URL: 'ftp://secret' }), {
    code: 1,
    stderr: /^Bad configuration: WEBHOOK_1_URL must be [^\n]*\n$/,
  })
  t.match(await harness.run(['backfill', '--node', '1'], one), { code: 2, stderr: /^--from is missing\n/ })
  t.match(await harness.run(['backfill', '--from', '0'], one), { code: 2, stderr: /^--node is missing\n/ })
  t.match(await harness.run(['backfill', '--node', '1', '--from', '-1'], one), { code: 2 })
  t.match(await harness.run(['backfill', '--node', '1', '--from', '0'], one), {
    code: 0,
    stdout: '0 events: 0 deliveries created, 0 already there.\n',
  })
})
