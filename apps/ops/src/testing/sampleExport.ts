// An export of some events, to be damaged in every way and looked at.
import { copyFileSync } from 'node:fs'
import type { Test } from 'tap'
import { manifestOf } from '../streams/exportManifest.ts'
import { linesOf, exportHarness, writeLines } from './exportRig.ts'

export async function sampleExportHarness(t: Test) {
  const harness = await exportHarness(t)
  const { append, exportTo, newPath, verify, sql } = harness

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
  return { ...harness, original, lines, changed, replaced, eventDifferences, nameOf }
}
