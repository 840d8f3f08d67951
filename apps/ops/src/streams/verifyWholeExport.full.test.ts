// verify-export on whole files: the covered part of the log, another log, and files that cannot be checked.
import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { manifestOf } from '@paylog/event-store/export/manifest'
import { matchList } from '@paylog/testing/assertions'
import t from 'tap'
import { editManifest, linesOf, readManifestOf, sampleExportHarness, writeLines } from '../testing/exportHarness.ts'
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

t.test('verify-export lists a hundred differences and counts the others', async (t) => {
  const path = changed((all) => all)
  appendFileSync(path, 'noise\n'.repeat(1_500))
  const { code, count, differences, message } = await verify(path)
  t.same([code, count, differences.length], [3, 1_503, 100])
  t.match(message, /: 1503 differences\.$/)
  const { stdout, code: exitCode } = await runOps(['streams', 'verify-export', path], environment)
  t.match(stdout, /^(line \d+: This is not an event\n){100}… and 1403 more\.\nThe file does not match its manifest/)
  t.equal(exitCode, 3)
})

t.test('verify-export recognises the export of another log', async (t) => {
  const path = changed((all) => all.map((line, at) => line.replace(/"id":"[^"]*"/, `"id":"other-${at}"`)))
  writeLines(
    path,
    linesOf(path).map((line) => line.replace(/"position":"(\d+)"/, '"position":"9$1"')),
  )
  const { stdout, code } = await runOps(['streams', 'verify-export', path], environment)
  t.equal(code, 3)
  t.match(stdout, 'None of its events is in this log: it was most likely exported from another one.')
})

t.test('verify-export distinguishes events outside the filters from events of another log', async (t) => {
  const path = changed((all) => all)
  const { filters } = readManifestOf(path)
  for (const stream of ['none-1', 'payment-0']) {
    const withOthers = stream === 'none-1' ? path : changed((all) => all.slice(2))
    editManifest(withOthers, { filters: { ...filters, stream } })
    const { stdout } = await runOps(['streams', 'verify-export', withOthers], environment)
    t.match(stdout, 'does not match the filters of the manifest')
    t.notMatch(stdout, 'None of its events is in this log')
  }
  const emptied = await runOps(['streams', 'verify-export', changed(() => [])], environment)
  t.notMatch(emptied.stdout, 'None of its events is in this log', 'an empty file has no events')
})

t.test('verify-export reports events that the log has lost', async (t) => {
  await append('lost-1', {})
  const path = newPath()
  await exportTo(path)
  await sql(`delete from event_store.events where stream = 'lost-1'`)
  const { stdout } = await runOps(['streams', 'verify-export', path], environment)
  t.match(stdout, 'The file matches its manifest, so the log has changed since')
  const { code, differences } = await verify(path)
  t.equal(code, 3)
  matchList(t, differences, [{ kind: 'extra', event: { stream: 'lost-1' }, reason: 'is not in the log' }])
})
