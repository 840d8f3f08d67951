import { randomUUID } from 'node:crypto'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { contextOf } from '../testing/runOps.ts'
import { endpointVariables, webhooksHarness } from '../testing/webhooksHarness.ts'
import { webhooksRedeliver } from './redeliver.ts'

const longTimeout = { timeoutMs: 30_000 }

t.test('webhooks redeliver names unknown ids and sends the others', async (t) => {
  const harness = await webhooksHarness(t)
  const endpoint = await startFakeEndpoint(t)
  await harness.startWorker(endpointVariables('1', endpoint.url))
  await harness.pay(1)
  await waitFor(async () => (await harness.rows('1'))[0]?.status === 'succeeded', {
    what: 'the delivery',
    ...longTimeout,
  })
  const [known] = await harness.rows('1')
  const unknown = randomUUID()
  t.same(await harness.run(['redeliver', unknown, known?.id ?? '', 'no-id']), {
    code: 1,
    stdout: '1 delivery will be sent again.\n',
    stderr: `Unknown ids: ${unknown}, no-id\n`,
  })
  await waitFor(() => endpoint.received.length === 2, { what: 'the known one', ...longTimeout })
})

t.test('webhooks redeliver with invalid arguments fails before it starts', async (t) => {
  const io = { environment: {}, print: async () => undefined }
  const wrong = [
    { args: [], expected: 'ID is missing' },
    { args: ['--node', '1'], expected: '--failed is missing: without ids, only failed deliveries are sent again' },
    { args: ['--failed'], expected: '--node is missing' },
    { args: ['--since', '1h'], expected: '--node is missing' },
    { args: [randomUUID(), '--node', '1', '--failed'], expected: 'Give either ids or --node and --failed' },
    { args: ['--node', '1', '--failed', '--since', 'soon'], expected: '--since must be a time' },
  ]
  for (const { args, expected } of wrong)
    await t.rejects(
      webhooksRedeliver.run(args, contextOf(io)),
      { name: 'UsageError', message: expected },
      args.join(' '),
    )
})
