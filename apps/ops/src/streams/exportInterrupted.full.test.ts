// An unfinished export or verification cannot be mistaken for a finished one.
import { readFileSync } from 'node:fs'
import { manifestOf } from '@paylog/event-store/export/manifest'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { exportHarness } from '../testing/exportHarness.ts'
import { startOps } from '../testing/runOps.ts'

const harness = await exportHarness(t)
const { append, newPath, filesThere, environment, exportTo, verify } = harness
await append('payment-1', {}, {})
const proxy = await startTcpProxy(t, Number(new URL(harness.store.connectionString).port))
const behindProxy = { ...environment, EVENTSTORE_URL: `esdb://127.0.0.1:${proxy.port}?tls=false` }

t.test('Ctrl-C ends an export while the store is silent, and removes its files', async (t) => {
  const path = newPath()
  await exportTo(path)
  const before = readFileSync(path, 'utf8') + readFileSync(manifestOf(path), 'utf8')
  const names = filesThere()
  proxy.dropResponses()
  const running = startOps(t, ['streams', 'export', '--out', path, '--force'], behindProxy)
  await waitFor(() => filesThere().length > names.length, {
    what: 'the file under its temporary name',
    timeoutMs: 30_000,
  })
  await proxy.responseDropped()
  running.signal('SIGINT')
  t.match(await running.ended, { code: 1, stdout: '', stderr: /Interrupted: nothing was written\.\n$/ })
  t.same(filesThere(), names)
  t.equal(readFileSync(path, 'utf8') + readFileSync(manifestOf(path), 'utf8'), before)

  proxy.heal()
  t.match(await verify(path), { code: 0 })
})

t.test('an interrupted verify-export reports no result', async (t) => {
  const silent = await startTcpProxy(t, Number(new URL(harness.store.connectionString).port))
  silent.dropResponses()
  const path = newPath()
  await exportTo(path)
  const EVENTSTORE_URL = `esdb://127.0.0.1:${silent.port}?tls=false`
  const running = startOps(t, ['streams', 'verify-export', path], { ...environment, EVENTSTORE_URL })
  await silent.responseDropped()
  running.signal('SIGTERM')
  t.match(await running.ended, { code: 1, stdout: '', stderr: /before the whole export was checked\.\n$/ })
})

t.test('a killed export leaves no final file, and the next one works', async (t) => {
  const path = newPath()
  const names = filesThere()
  proxy.dropResponses()
  const running = startOps(t, ['streams', 'export', '--out', path], behindProxy)
  await waitFor(() => filesThere().length > names.length, {
    what: 'the file under its temporary name',
    timeoutMs: 30_000,
  })
  running.signal('SIGKILL')
  await running.ended
  proxy.heal()
  t.same(
    filesThere().filter((name) => !name.endsWith('.part')),
    names,
  )
  // With the records of the two exports before.
  t.match(await exportTo(path), { count: 4 })
  t.match(await verify(path), { code: 0 })
})
