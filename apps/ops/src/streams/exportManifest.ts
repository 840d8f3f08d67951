// FILE.manifest.json: the extent of an export, and its checksum.
import { readFileSync } from 'node:fs'
import { Instant } from '@paylog/domain/fields'
import type { ExportSelection } from '@paylog/event-store/export/selection'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { OpsError } from '../command.ts'

/** Raised whenever the layout of lines or manifest changes. */
const format = 1

const Position = Type.String({ pattern: '^\\d{1,20}$' })
const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

export const Manifest = Type.Object({
  format: Type.Literal(format),
  filters: Type.Object({
    category: orNull(Type.String()),
    stream: orNull(Type.String()),
    type: orNull(Type.String()),
    since: orNull(Instant),
    until: orNull(Instant),
  }),
  /** Position of the last event that was considered, exported or not. */
  head: orNull(Position),
  count: Type.Integer({ minimum: 0 }),
  first_position: orNull(Position),
  last_position: orNull(Position),
  bytes: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
})

export type Manifest = Readonly<Static<typeof Manifest>>

const ending = '.manifest.json'

export const manifestOf = (file: string) => `${file}${ending}`

/** The export that a manifest of this name belongs to. */
export const fileOf = (manifest: string) => (manifest.endsWith(ending) ? manifest.slice(0, -ending.length) : undefined)

export function createManifest(
  { category, stream, type, since, until }: ExportSelection,
  facts: Omit<Manifest, 'format' | 'filters'>,
): Manifest {
  const names = { category: category ?? null, stream: stream ?? null, type: type ?? null }
  return { format, filters: { ...names, since: instant(since), until: instant(until) }, ...facts }
}

const instant = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString())

/** The selection that an export was made with. */
export function selectionOf({ filters: { category, stream, type, since, until } }: Manifest): ExportSelection {
  return {
    ...(category === null ? {} : { category }),
    ...(stream === null ? {} : { stream }),
    ...(type === null ? {} : { type }),
    ...(since === null ? {} : { since: Date.parse(since) }),
    ...(until === null ? {} : { until: Date.parse(until) }),
  }
}

/** For example "all events of the category payment that were recorded from … on". */
export function filtersText({ filters: { category, stream, type, since, until } }: Manifest): string {
  const times = [...(since === null ? [] : [`from ${since} on`]), ...(until === null ? [] : [`before ${until}`])]
  return [
    `all events${type === null ? '' : ` of the type ${type}`}`,
    ...(stream === null ? [] : [`of the stream ${stream}`]),
    ...(category === null ? [] : [`of the category ${category}`]),
    ...(times.length === 0 ? [] : [`that were recorded ${times.join(' and ')}`]),
    ...([category, stream, type, since, until].every((filter) => filter === null) ? ['of the log'] : []),
  ].join(' ')
}

/** Whether the path is a manifest instead of an export. */
export function isManifest(path: string): boolean {
  try {
    return Value.Check(Manifest, parsed(path))
  } catch {
    return false
  }
}

/** @throws OpsError when it is missing or cannot be read by this program */
export function readManifest(file: string): Manifest {
  const path = manifestOf(file)
  const content = parsed(path)
  if (Value.Check(Manifest, content)) {
    const { since, until } = selectionOf(content)
    if (since === undefined || until === undefined || since < until) return content
    throw new OpsError(`${path} is not the manifest of an export: its since is not before its until`)
  }
  const other = typeof content === 'object' && content !== null && 'format' in content ? content.format : format
  if (other !== format)
    throw new OpsError(`${path} has format ${other}, and this program supports format ${format} only`)
  const [first] = Value.Errors(Manifest, content)
  throw new OpsError(
    `${path} is not the manifest of an export: ${first?.instancePath || 'it'} ${first?.message ?? 'is wrong'}`,
  )
}

function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) throw new OpsError(`${path} is not JSON`, { cause: error })
    throw new OpsError(`The manifest cannot be read: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
}
