// Whatever was done to an export is found and named, and nothing is named that was not done.
import { createHash } from 'node:crypto'
import { appendFileSync, copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { matchList } from '@paylog/testing/matchList'
import t from 'tap'
import { editManifest, linesOf, readManifestOf, startExportRig, writeLines } from '../testing/exportRig.ts'
import { runOps } from '../testing/runOps.ts'
import { manifestOf } from './exportManifest.ts'

const rig = await startExportRig(t)
const { append, exportTo, newPath, verify, sql, environment } = rig

for (let number = 0; number < 12; number++) {
  const data = `{"number":${number},"text":"some text","exact":12345678901234567890}`
  await append(`payment-${number}`, { type: 'Counted', data }, { type: 'Noted', data: '{ "a":\n1 }' })
}
await append('bytes-1', { contentType: 'application/octet-stream', data: '\0\xff' }, { data: 'no JSON' })
// What was recorded before a time must lie back a little before it can be exported up to there.
const hourTicks = 36_000_000_000n
await sql('update event_store.events set created_ticks = created_ticks - $1', [String(hourTicks)])

const original = newPath()
await exportTo(original)
const lines = linesOf(original)

/** A copy of the export with other lines, and the original's manifest. */
function changed(change: (lines: string[]) => readonly string[]): string {
  const path = newPath()
  writeLines(path, change([...lines]))
  copyFileSync(manifestOf(original), manifestOf(path))
  return path
}
const replaced = (index: number, from: string | RegExp, to: string) =>
  changed((all) => all.map((line, at) => (at === index ? line.replace(from, to) : line)))

/** What is wrong with the events; that the sum of the file is another one goes without saying. */
async function eventDifferences(path: string) {
  const { code, differences } = await verify(path)
  return { code, found: differences.filter(({ kind }) => kind !== 'manifest') }
}
const nameOf = (index: number) => {
  const { id, stream, revision, position, type } = JSON.parse(lines[index] ?? '')
  return { id, stream, revision, position, type }
}

t.test('an export that nobody touched is equal, whatever its filters, and stays so when the log grows', async (t) => {
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
  for (const path of [original, ...paths]) t.match(await verify(path), { code: 0, count: 0, differences: [] }, path)
  const ended = await runOps(['streams', 'verify-export', original], environment)
  t.match(ended, {
    code: 0,
    stdout: /is what its manifest says and what the log holds: 26 events, positions \d+ to \d+;/,
  })
})

t.test('one byte anywhere in a line is found, and the event is named', async (t) => {
  const { found, code } = await eventDifferences(replaced(4, 'some text', 'some tekt'))
  const field = { field: 'data.text', log: '"some text"', file: '"some tekt"' }
  t.same([code, found], [3, [{ kind: 'changed', line: 5, event: nameOf(4), fields: [field] }]])
  const line = Buffer.from(lines[4] ?? '')
  for (let at = 0; at < line.length; at += 17) {
    const broken = Buffer.from(line)
    broken[at] = (broken[at] ?? 0) ^ 1
    const path = changed((all) => all)
    const before = Buffer.from(
      lines
        .slice(0, 4)
        .map((each) => `${each}\n`)
        .join(''),
    )
    writeFileSync(path, Buffer.concat([before, broken, readFileSync(path).subarray(before.length + line.length)]))
    const { found } = await eventDifferences(path)
    t.ok(found.length >= 1, `byte ${at}`)
    t.ok(
      found.every((difference) => ('line' in difference ? difference.line === 5 : 'event' in difference)),
      `byte ${at}: nothing else is said to be wrong`,
    )
  }
})

t.test('every field counts, also where JavaScript would not see the difference', async (t) => {
  const fieldsOf = async (path: string) => {
    const { found } = await eventDifferences(path)
    return found.map((each) =>
      each.kind === 'changed' ? [each.line, ...each.fields.map(({ field }) => field)] : each.kind,
    )
  }
  t.same(await fieldsOf(replaced(2, '"revision":"0"', '"revision":"7"')), [[3, 'revision']])
  t.same(await fieldsOf(replaced(2, '"type":"Counted"', '"type":"Other"')), [[3, 'type']])
  t.same(await fieldsOf(replaced(2, /"created":"\d{4}/, '"created":"1999')), [[3, 'created']])
  t.same(await fieldsOf(replaced(2, /"id":"[^"]*"/, '"id":"c2d1a3de-8f2b-4c5f-9a43-6a1f0e2f7d11"')), [[3, 'id']])
  t.same(await fieldsOf(replaced(2, /"position":"\d+"/, '"position":"999999"')), [[3, 'position']])
  t.same(await fieldsOf(replaced(2, /"position":"\d+"/, '"position":"1"')), [[3, 'position']])
  t.same(await fieldsOf(replaced(2, '"metadata":{}', '"metadata":{"actor":"me"}')), [[3, 'metadata.actor']])
  t.same(await fieldsOf(replaced(2, '12345678901234567890', '12345678901234567891')), [[3, 'line']])
  t.same(await fieldsOf(replaced(2, '"data":{', '"data":{ ')), [[3, 'line']])
  t.same(await fieldsOf(replaced(2, /$/, '\r')), [[3, 'line']])
  t.same(await fieldsOf(replaced(24, '"data_base64":"AP8="', '"data_base64":"AP4="')), [[25, 'data_base64']])
})

t.test('lines that are missing, moved, repeated or made up are told apart', async (t) => {
  const kinds = async (path: string) =>
    (await eventDifferences(path)).found.map((each) => ('line' in each ? `${each.kind} ${each.line}` : each.kind))
  const without = await eventDifferences(changed((all) => all.toSpliced(5, 1)))
  t.same(without.found, [{ kind: 'missing', event: nameOf(5) }])
  t.same(await kinds(changed((all) => all.slice(1))), ['missing'])
  t.same(await kinds(changed((all) => all.toSpliced(3, 9))), Array(9).fill('missing'))
  t.same(await kinds(changed((all) => [...all.slice(0, 4), all[5] ?? '', all[4] ?? '', ...all.slice(6)])), [
    'out_of_order 5',
  ])
  t.same(await kinds(changed((all) => [...all.slice(1), all[0] ?? ''])), ['out_of_order 26'])
  const twice = await eventDifferences(changed((all) => all.toSpliced(7, 0, all[2] ?? '')))
  t.match(twice.found, [{ kind: 'extra', line: 8, event: nameOf(2), reason: 'stands in the file more than once' }])
  const madeUp = (lines[6] ?? '').replace(/"id":"[^"]*"/, '"id":"c2d1a3de-8f2b-4c5f-9a43-6a1f0e2f7d11"')
  const extra = await eventDifferences(
    changed((all) => all.toSpliced(7, 0, madeUp.replace(/"position":"\d+"/, '"position":"1"'))),
  )
  matchList(t, extra.found, [{ kind: 'extra', line: 8, reason: 'is not in the log' }])
  const noise = await eventDifferences(changed((all) => all.toSpliced(7, 0, 'noise', '')))
  matchList(t, noise.found, [
    { kind: 'extra', line: 8, event: null, reason: 'is no event' },
    { kind: 'extra', line: 9, event: null },
  ])
})

t.test('a file that was cut off says how much of it is there', async (t) => {
  const path = changed((all) => all)
  const { bytes } = readManifestOf(path)
  truncateSync(path, bytes - (lines.at(-1)?.length ?? 0) - 2)
  const cut = await verify(path)
  t.equal(cut.code, 3)
  const manifest = cut.differences.flatMap((each) => (each.kind === 'manifest' ? [each.field] : []))
  t.same(manifest, ['count', 'last_position', 'bytes', 'sha256'])
  const events = cut.differences.filter(({ kind }) => kind !== 'manifest')
  matchList(t, events, [
    { kind: 'changed', line: 25, fields: [{ field: 'line', file: 'not ended by a line feed alone' }] },
    { kind: 'missing', event: nameOf(25) },
  ])
  truncateSync(path, bytes / 2)
  t.ok((await verify(path)).differences.some(({ kind }) => kind === 'missing'))
  truncateSync(path, 0)
  t.match(await verify(path), { code: 3, count: 31 })
})

t.test('an edited manifest is found', async (t) => {
  const edited = async (change: Parameters<typeof editManifest>[1]) => {
    const path = changed((all) => all)
    editManifest(path, change)
    return await verify(path)
  }
  const said = async (change: Parameters<typeof editManifest>[1]) =>
    (await edited(change)).differences.map((each) => (each.kind === 'manifest' ? each.field : each.kind))
  t.same(await said({ bytes: 1 }), ['bytes'])
  t.same(await said({ count: 25 }), ['count'])
  t.same(await said({ sha256: '0'.repeat(64) }), ['sha256'])
  t.same(await said({ first_position: '1' }), ['first_position'])
  t.same(await said({ last_position: null }), ['last_position'])
  const { head, filters } = readManifestOf(original)
  t.same(await said({ head: nameOf(24).position }), ['extra'])
  t.match((await edited({ head: nameOf(24).position })).differences, [{ reason: /^lies behind the part of the log/ }])
  t.same(await said({ head: String(BigInt(head ?? 0) + 1_000n) }), ['other_log', 'missing'])
  matchList(t, (await edited({ head: null })).differences, [
    { kind: 'nothing_covered', end: /^\d+$/ },
    ...lines.map(() => ({ kind: 'extra' })),
  ])
  const [since, until] = ['2026-11-02T00:00:00.000Z', '2026-11-01T00:00:00.000Z']
  for (const times of [
    { since, until },
    { since, until: since },
  ])
    t.match(await edited({ filters: { ...filters, ...times } }), { code: 1, message: /since does not lie before/ })
  const category = await edited({ filters: { ...filters, category: 'payment' } })
  matchList(t, category.differences, [
    { kind: 'extra', line: 25, reason: /^does not belong into an export with the filters/ },
    { kind: 'extra', line: 26 },
  ])
})

t.test('an export that was emptied together with its manifest is not equal to a log that has events', async (t) => {
  const path = newPath()
  await exportTo(path)
  writeLines(path, [])
  const sha256 = createHash('sha256').digest('hex')
  const nothing = { head: null, first_position: null, last_position: null, count: 0, bytes: 0, sha256 }
  editManifest(path, nothing)
  const { code, differences, logEnd } = await verify(path)
  t.same([code, differences], [3, [{ kind: 'nothing_covered', end: logEnd }]])
  const { filters } = readManifestOf(path)
  editManifest(path, { filters: { ...filters, until: new Date().toISOString() } })
  matchList(t, (await verify(path)).differences, [{ kind: 'cut_short', head: null }])
})

t.test(
  'of an export without until it is said that the log has gone on, so that one that was cut with its head is noticed',
  async (t) => {
    const path = newPath()
    const { head } = await exportTo(path)
    const show = async () => (await runOps(['streams', 'verify-export', path], environment)).stdout
    t.notMatch(await show(), 'has gone on')
    t.equal((await verify(path)).logEnd, head)
    await append('late-1', {})
    const { code, logEnd } = await verify(path)
    t.equal(code, 0)
    t.ok(BigInt(logEnd ?? 0) > BigInt(head ?? 0))
    t.match(
      await show(),
      `The log has gone on since, up to position ${logEnd}: what stands behind position ${head} was`,
    )
    await exportTo(path, '--force', '--until', '30m')
    t.notMatch(await show(), 'has gone on', 'an until says how far it goes')
  },
)

t.test(
  'an export that is cut together with its manifest is found by its until, and its filters are told',
  async (t) => {
    const path = newPath()
    await exportTo(path, '--until', '30m', '--category', 'payment')
    const whole = await runOps(['streams', 'verify-export', path], environment)
    t.match(whole.stdout, /It holds all events of the category payment that were recorded before \d{4}-/)
    const kept = linesOf(path).slice(0, 10)
    writeLines(path, kept)
    const content = readFileSync(path)
    const head: string = JSON.parse(kept.at(-1) ?? '').position
    const sha256 = createHash('sha256').update(content).digest('hex')
    editManifest(path, { head, last_position: head, count: kept.length, bytes: content.length, sha256 })
    const { code, differences } = await verify(path)
    t.equal(code, 3)
    matchList(t, differences, [{ kind: 'cut_short', head }])
    const { stdout } = await runOps(['streams', 'verify-export', path], environment)
    t.match(
      stdout,
      /cut off there, or the manifest was changed; or an event was recorded after the export, at a time before/,
    )
  },
)

t.test('what cannot be checked is no verdict', async (t) => {
  const path = changed((all) => all)
  t.match(await verify(manifestOf(path)), {
    code: 1,
    message: `${manifestOf(path)} is the manifest of an export: name the export itself, ${path}`,
  })
  rmSync(path)
  t.match(await verify(path), { code: 1, message: new RegExp(`^${path} cannot be read: ENOENT`) })
  rmSync(manifestOf(path))
  t.match(await verify(path), { code: 1, message: new RegExp(`^${path} cannot be read: ENOENT`) })
  writeFileSync(path, '')
  t.match(await verify(path), { code: 1, message: /^The manifest cannot be read: ENOENT/ })
  writeFileSync(manifestOf(path), '{')
  t.match(await verify(path), { code: 1, message: /manifest\.json is not JSON$/ })
  writeFileSync(manifestOf(path), '{"format":2}')
  t.match(await verify(path), { code: 1, message: /has format 2, and this program knows format 1 only$/ })
  writeFileSync(manifestOf(path), '{"format":1}')
  t.match(await verify(path), { code: 1, message: /is no manifest of an export: / })
  const unreachable = { ...environment, EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' }
  t.match(await runOps(['streams', 'verify-export', original], unreachable), { code: 1, stderr: /cannot be reached/ })
})

t.test('after a hundred differences they are only counted', async (t) => {
  const path = changed((all) => all)
  appendFileSync(path, 'noise\n'.repeat(1_500))
  const { code, count, differences, message } = await verify(path)
  t.same([code, count, differences.length], [3, 1_503, 100])
  t.match(message, /: 1503 differences\.$/)
  const { stdout, code: exitCode } = await runOps(['streams', 'verify-export', path], environment)
  t.match(stdout, /^(line \d+: This is no event\n){100}… and 1403 more\.\nThe file is not the one that its manifest/)
  t.equal(exitCode, 3)
})

t.test('the export of another log is known for it', async (t) => {
  const path = changed((all) => all.map((line, at) => line.replace(/"id":"[^"]*"/, `"id":"other-${at}"`)))
  writeLines(
    path,
    linesOf(path).map((line) => line.replace(/"position":"(\d+)"/, '"position":"9$1"')),
  )
  const { stdout, code } = await runOps(['streams', 'verify-export', path], environment)
  t.equal(code, 3)
  t.match(stdout, 'None of its events is in this log: it was most likely made from another one.')
})

t.test('lines that the log has, but not for these filters, are not those of another log', async (t) => {
  const path = changed((all) => all)
  const { filters } = readManifestOf(path)
  for (const stream of ['none-1', 'payment-0']) {
    const withOthers = stream === 'none-1' ? path : changed((all) => all.slice(2))
    editManifest(withOthers, { filters: { ...filters, stream } })
    const { stdout } = await runOps(['streams', 'verify-export', withOthers], environment)
    t.match(stdout, 'does not belong into an export with the filters of the manifest')
    t.notMatch(stdout, 'None of its events is in this log')
  }
  const emptied = await runOps(['streams', 'verify-export', changed(() => [])], environment)
  t.notMatch(emptied.stdout, 'None of its events is in this log', 'it has none')
})

t.test(
  'what a scavenge took of deleted streams is no longer in the log, and is not called tampered with',
  async (t) => {
    await append('gone-1', {})
    await append('gone-2', {})
    await append('kept-1', {})
    const path = newPath()
    await exportTo(path)
    await rig.softDelete('gone-1')
    await rig.closeForGood('gone-2')
    t.match(await verify(path), { code: 0 }, 'a log keeps them until then')
    // What a server's scavenge does; the last one is what it would never do.
    await sql(`delete from event_store.events where stream in ('gone-1', 'gone-2', 'kept-1') and revision = 0`)
    const { stdout } = await runOps(['streams', 'verify-export', path], environment)
    t.match(stdout, 'The file is the one that its manifest describes: it is the log that is not what it was then')
    const { code, differences } = await verify(path)
    t.equal(code, 3)
    matchList(t, differences, [
      { kind: 'no_longer_in_log', event: { stream: 'gone-1' }, reason: 'its stream was deleted' },
      { kind: 'no_longer_in_log', event: { stream: 'gone-2' }, reason: 'its stream was closed for good' },
      { kind: 'extra', event: { stream: 'kept-1' }, reason: 'is not in the log' },
    ])
  },
)
