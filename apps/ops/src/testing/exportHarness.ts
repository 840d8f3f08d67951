// Runs exports on a real log whose recorded rows tests can change.

import { randomUUID } from 'node:crypto'
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRawClient } from '@paylog/event-store/connection/calls'
import { appendRaw } from '@paylog/event-store/copy-log/appendRaw'
import { type Manifest, manifestOf } from '@paylog/event-store/export/manifest'
import { positionAt } from '@paylog/testing/positionAt'
import type { Test } from 'tap'
import type { ExportDifference } from '../streams/verifyExport.ts'
import { opsHarness } from './opsHarness.ts'
import { runOps } from './runOps.ts'

export type RecordedRow = {
  readonly position: bigint
  readonly stream: string
  readonly revision: bigint
  readonly event_id: string
  readonly type: string
  readonly is_json: boolean
  readonly created_ticks: bigint
  readonly metadata: Buffer
  readonly data: Buffer
}

type EventFixture = {
  readonly type?: string
  readonly contentType?: string
  readonly data?: string
  readonly metadata?: string
}

export type Verification = {
  readonly code: number | null
  readonly difference: ExportDifference | undefined
  readonly message: string
  /** Position of the last event of the log. */
  readonly logEnd: string | null
}

export async function exportHarness(t: Test) {
  const harness = await opsHarness(t)
  const { eventStore: store, pool, directory, newPath } = harness
  const raw = createRawClient({ name: 'the log', connectionString: store.connectionString })
  t.teardown(() => raw.close())
  // Most exports need no checkpoint.
  const { DATABASE_URL: _, ...environment } = harness.env
  const revisions = new Map<string, number>()

  async function append(stream: string, ...events: readonly EventFixture[]): Promise<void> {
    const first = revisions.get(stream) ?? 0
    revisions.set(stream, first + events.length)
    await appendRaw(
      raw,
      events.map(({ type = 'Noted', contentType = 'application/json', data = '{}', metadata = '{}' }, index) => ({
        id: randomUUID(),
        stream,
        revision: BigInt(first + index),
        type,
        contentType,
        data: Buffer.from(data, 'latin1'),
        metadata: Buffer.from(metadata, 'latin1'),
        created: new Date(0),
        position: positionAt(0n),
      })),
    )
  }
  return {
    store,
    raw,
    pool,
    directory,
    environment,
    append,
    newPath,
    /** The rows of the log table. */
    rows: async () => (await pool.query<RecordedRow>('select * from event_store.events order by position')).rows,
    sql: (statement: string, values: readonly unknown[] = []) => pool.query(statement, [...values]),
    filesThere: () => readdirSync(directory).sort(),

    /** @throws Error with what the command prints to stderr, and its exit code */
    async exportTo(path: string, ...flags: readonly string[]): Promise<Manifest> {
      const { code, stdout, stderr } = await runOps(
        ['streams', 'export', '--out', path, '--json', ...flags],
        environment,
      )
      if (code !== 0) throw Object.assign(new Error(stderr), { exitCode: code })
      return JSON.parse(stdout)
    },
    /** Runs verify-export and returns its exit code and result. */
    async verify(path: string): Promise<Verification> {
      const { code, stdout, stderr } = await runOps(['streams', 'verify-export', path, '--json'], environment)
      const { listed = [], log_end: logEnd = null } = stdout === '' ? {} : JSON.parse(stdout)
      return { code, difference: listed[0], message: stderr.trimEnd(), logEnd }
    },
  }
}

export const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1)

export const writeLines = (path: string, lines: readonly string[]) =>
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''))

export const readManifestOf = (path: string): Manifest => JSON.parse(readFileSync(manifestOf(path), 'utf8'))

export const editManifest = (path: string, change: Partial<Manifest>) =>
  writeFileSync(manifestOf(path), JSON.stringify({ ...readManifestOf(path), ...change }))

export async function sampleExportHarness(t: Test) {
  const harness = await exportHarness(t)
  const { append, exportTo, newPath, sql } = harness

  for (let number = 0; number < 12; number++) {
    const data = `{"number":${number},"text":"some text","exact":12345678901234567890}`
    await append(`payment-${number}`, { type: 'Counted', data }, { type: 'Noted', data: '{ "a":\n1 }' })
  }
  await append('bytes-1', { contentType: 'application/octet-stream', data: '\0\xff' }, { data: 'no JSON' })
  // `until` must be in the past.
  const hourTicks = 36_000_000_000n
  await sql('update event_store.events set created_ticks = created_ticks - $1', [String(hourTicks)])

  const original = newPath()
  await exportTo(original)
  const lines = linesOf(original)

  /** A copy of the export with changed lines, and the original manifest. */
  function changed(change: (lines: string[]) => readonly string[]): string {
    const path = newPath()
    writeLines(path, change([...lines]))
    copyFileSync(manifestOf(original), manifestOf(path))
    return path
  }
  const replaced = (index: number, from: string | RegExp, to: string) =>
    changed((all) => all.map((line, at) => (at === index ? line.replace(from, to) : line)))

  const nameOf = (index: number) => {
    const { id, stream, revision, position, type } = JSON.parse(lines[index] ?? '')
    return { id, stream, revision, position, type }
  }
  return { ...harness, original, lines, changed, replaced, nameOf }
}
