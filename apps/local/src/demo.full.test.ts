import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from '@paylog/runtime/process/isAlive'
import { type Runtime, readRuntime } from '@paylog/runtime/process/runtimeFile'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { startDemo } from './testing/demoProcess.ts'

const path = process.env.PATH

t.test('the demo follows one payment from its creation to its webhooks and deletes its data', async (t) => {
  // Variables of a real system must not affect the demo.
  const demo = startDemo(t, { path, env: { EVENTSTORE_URL: 'nonsense', WEBHOOK_2_ENABLED: 'nonsense', PORT: '1' } })
  const [code] = await demo.exited
  t.equal(code, 0, demo.output())
  for (const event of ['PaymentInitiated', 'ProviderIntentCreated', 'PaymentSucceeded']) t.match(demo.output(), event)
  t.match(demo.output(), /payment\.created +pending +22\.00 EUR +verified/)
  t.match(demo.output(), /payment\.succeeded +succeeded +22\.00 EUR +verified/)
  t.same(readdirSync(demo.directory), [])
})

t.test('an interrupted demo stops its processes and deletes its data', async (t) => {
  const demo = startDemo(t, { path })
  const startedProcesses = (): Runtime['parts'] | undefined => {
    const [name] = readdirSync(demo.directory)
    const parts = name === undefined ? undefined : readRuntime(join(demo.directory, name))?.parts
    return parts?.length ? parts : undefined
  }
  const parts = await waitFor(startedProcesses, { what: 'the first processes of the demo' })
  demo.child.kill('SIGINT')
  t.same(await demo.exited, [130, null])
  t.same(
    parts.filter(({ pid }) => isAlive(pid)),
    [],
  )
  t.same(readdirSync(demo.directory), [])
})
