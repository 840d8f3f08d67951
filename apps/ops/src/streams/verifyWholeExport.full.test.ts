// verify-export on whole files: the covered part of the log, another log, and files that cannot be checked.
import { rmSync, writeFileSync } from 'node:fs'
import { manifestOf } from '@paylog/event-store/export/manifest'
import t from 'tap'
import { sampleExportHarness } from '../testing/exportHarness.ts'
import { runOps } from '../testing/runOps.ts'

const harness = await sampleExportHarness(t)
const { append, exportTo, newPath, verify, sql, environment, original, changed } = harness

t.test(
  'verify-export without until reports that the log has grown, so that a cut export is noticed, and names its filters',
  async (t) => {
    const path = newPath()
    const { head } = await exportTo(path)
    const show = async () => (await runOps(['streams', 'verify-export', path], environment)).stdout
    await append('late-1', {})
    const { code, logEnd } = await verify(path)
    t.equal(code, 0)
    t.ok(BigInt(logEnd ?? 0) > BigInt(head ?? 0))
    t.match(await show(), `The log has grown since, up to position ${logEnd}: events after position ${head} were`)
    await exportTo(path, '--force', '--until', '30m', '--category', 'payment')
    const whole = await show()
    t.notMatch(whole, 'has grown since', 'with an until the end of the export is known')
    t.match(whole, /It contains all events of the category payment that were recorded before \d{4}-/)
  },
)

t.test('verify-export exits 1 without a result when it cannot check', async (t) => {
  const path = changed((all) => all)
  t.match(await verify(manifestOf(path)), {
    code: 1,
    message: `${manifestOf(path)} is the manifest of an export: name the export itself, ${path}`,
  })
  rmSync(path)
  t.match(await verify(path), { code: 1, message: `${path} cannot be read: ENOENT` })
  rmSync(manifestOf(path))
  t.match(await verify(path), { code: 1, message: `${path} cannot be read: ENOENT` })
  writeFileSync(path, '')
  t.match(await verify(path), { code: 1, message: /\.manifest\.json cannot be read: ENOENT/ })
  writeFileSync(manifestOf(path), '{')
  t.match(await verify(path), { code: 1, message: /manifest\.json is not JSON$/ })
  writeFileSync(manifestOf(path), '{"format":3}')
  t.match(await verify(path), { code: 1, message: /has format 3, and this program supports format 2 only$/ })
  writeFileSync(manifestOf(path), '{"format":2}')
  t.match(await verify(path), { code: 1, message: /is not the manifest of an export: / })
  const unreachable = { ...environment, EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' }
  t.match(await runOps(['streams', 'verify-export', original], unreachable), { code: 1, stderr: /cannot be reached/ })
})

t.test('verify-export of an export of another log says so', async (t) => {
  const path = changed((all) => all.map((line, at) => line.replace(/"id":"[^"]*"/, `"id":"other-${at}"`)))
  const { stdout, code } = await runOps(['streams', 'verify-export', path], environment)
  t.equal(code, 3)
  t.match(stdout, /^line 1: the file has payment-0@0 .*id other-0.*, and the log payment-0@0 /)
  t.match(stdout, 'Already its first event is another one: it was exported from another log, or its start was changed.')
})

t.test('verify-export reports events that the log has lost', async (t) => {
  await append('lost-1', {})
  const path = newPath()
  await exportTo(path, '--stream', 'lost-1')
  await sql(`delete from event_store.events where stream = 'lost-1'`)
  const { stdout } = await runOps(['streams', 'verify-export', path], environment)
  t.match(stdout, 'The file matches its manifest, so the log has changed since')
  t.match(await verify(path), { code: 3, difference: { kind: 'log_ends', line: 1, found: { stream: 'lost-1' } } })
})
