// `streams verify-export` on real files; compareExport.test.ts of packages/event-store has each kind of tampering with lines.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { manifestOf } from '@paylog/event-store/export/manifest'
import t from 'tap'
import { editManifest, readManifestOf, sampleExportHarness } from '../testing/exportHarness.ts'
import { runOps } from '../testing/runOps.ts'

const harness = await sampleExportHarness(t)
const { append, exportTo, newPath, verify, sql, environment, original, lines, changed, replaced, nameOf } = harness

t.test('verify-export accepts an unchanged export with any filters, also after the log has grown', async (t) => {
  const filters = [
    [],
    ['--category', 'payment'],
    ['--stream', 'payment-3', '--type', 'Noted'],
    ['--since', '2h'],
    ['--until', '30m'],
  ]
  const paths = await Promise.all(
    filters.map(async (flags) => {
      const path = newPath()
      await exportTo(path, ...flags)
      return path
    }),
  )
  await append('payment-3', { type: 'Noted' })
  for (const path of [original, ...paths]) t.match(await verify(path), { code: 0, difference: undefined }, path)
  const ended = await runOps(['streams', 'verify-export', original], environment)
  t.match(ended, {
    code: 0,
    stdout: /matches its manifest and the log: 26 events, positions \d+ to \d+;/,
    stderr: /^Comparing: 100 %, 26 events.*\n$/,
  })
})

t.test('verify-export finds one changed byte anywhere in a line and names the event', async (t) => {
  const { difference, code } = await verify(replaced(4, 'some text', 'some tekt'))
  const field = { field: 'data.text', log: '"some text"', file: '"some tekt"' }
  t.same([code, difference], [3, { kind: 'line', line: 5, expected: nameOf(4), found: nameOf(4), ...field }])
  const line = Buffer.from(lines[4] ?? '')
  const before = Buffer.from(lines.slice(0, 4).join('\n').concat('\n'))
  for (let at = 0; at < line.length; at += 17) {
    const broken = Buffer.from(line)
    broken[at] = (broken[at] ?? 0) ^ 1
    const path = changed((all) => all)
    writeFileSync(path, Buffer.concat([before, broken, readFileSync(path).subarray(before.length + line.length)]))
    t.match((await verify(path)).difference, { kind: 'line', line: 5, expected: nameOf(4) }, `byte ${at}`)
  }
})

const madeUp = '"id":"c2d1a3de-8f2b-4c5f-9a43-6a1f0e2f7d11"'

/** What is changed in a line, and the first field that differs. */
const changedFields: readonly (readonly [number, string | RegExp, string, string])[] = [
  [2, '"revision":"0"', '"revision":"7"', 'revision'],
  [2, '"type":"Counted"', '"type":"Other"', 'type'],
  [2, /"created":"\d{4}/, '"created":"1999', 'created'],
  [2, /"id":"[^"]*"/, madeUp, 'id'],
  [2, /"position":"\d+"/, '"position":"999999"', 'position'],
  [2, '"metadata":{}', '"metadata":{"actor":"me"}', 'metadata.actor'],
  [2, '12345678901234567890', '12345678901234567891', 'line'],
  [2, '"data":{', '"data":{ ', 'line'],
  [2, /$/, '\r', 'line'],
  [24, '"data_base64":"AP8="', '"data_base64":"AP4="', 'data_base64'],
]

t.test('verify-export finds a change of every field, also of numbers beyond JavaScript precision', async (t) => {
  for (const [index, from, to, field] of changedFields)
    t.match((await verify(replaced(index, from, to))).difference, { kind: 'line', line: index + 1, field }, to)
})

t.test('verify-export finds an edited manifest', async (t) => {
  const { head, filters } = readManifestOf(original)
  const edited = async (change: Parameters<typeof editManifest>[1]) => {
    const path = changed((all) => all)
    editManifest(path, change)
    return await verify(path)
  }
  for (const change of [
    { bytes: 1 },
    { count: 25 },
    { sha256: '0'.repeat(64) },
    { first_position: '1' },
    { last_position: null },
  ])
    t.match((await edited(change)).difference, { kind: 'manifest', field: Object.keys(change)[0] })
  const atLine = (line: number) => ({ kind: 'log_ends', line, found: nameOf(line - 1) })
  t.match((await edited({ head: nameOf(24).position })).difference, atLine(26))
  t.match((await edited({ head: null })).difference, atLine(1))
  const beyond = String(BigInt(head ?? 0) + 1_000n)
  t.match((await edited({ head: beyond })).difference, { kind: 'other_log', head: beyond })
  t.match((await edited({ filters: { ...filters, category: 'payment' } })).difference, atLine(25))
  const [since, until] = ['2026-11-02T00:00:00.000Z', '2026-11-01T00:00:00.000Z']
  for (const times of [
    { since, until },
    { since, until: since },
  ])
    t.match(await edited({ filters: { ...filters, ...times } }), { code: 1, message: /since is not before/ })
})

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
  t.match(await verify(path), { code: 1, message: `${path} does not exist` })
  rmSync(manifestOf(path))
  t.match(await verify(path), { code: 1, message: `${path} does not exist` })
  writeFileSync(path, '')
  t.match(await verify(path), { code: 1, message: /\.manifest\.json does not exist/ })
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
