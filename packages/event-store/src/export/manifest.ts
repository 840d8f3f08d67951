// FILE.manifest.json: the extent of an export, and its checksum. Runs in browsers too.

import type { ExportFilters } from './filters.ts'

/** Raised whenever the layout of lines or manifest changes. */
const format = 2

/** The signed state of the log's tree that covers an export. */
export type ManifestCheckpoint = {
  /** A signed note. */
  readonly note: string
  /**
   * Of an export whose lines are the first events of the log: the hashes in base64 that lead from the tree of its lines to
   * that of the checkpoint; none when the checkpoint is not larger, and then it covers the first lines. Null for others.
   */
  readonly consistency: readonly string[] | null
}

export type Manifest = {
  readonly format: typeof format
  readonly filters: ExportFilters
  /** Position of the last event that was considered, exported or not. */
  readonly head: string | null
  readonly count: number
  readonly first_position: string | null
  readonly last_position: string | null
  readonly bytes: number
  readonly sha256: string
  /** Null when no checkpoint covered the export yet. */
  readonly checkpoint: ManifestCheckpoint | null
}

const ending = '.manifest.json'

export const manifestOf = (file: string) => `${file}${ending}`

/** The export that a manifest of this name belongs to. */
export const fileOf = (manifest: string) => (manifest.endsWith(ending) ? manifest.slice(0, -ending.length) : undefined)

/** The content of its file. */
export const manifestText = (manifest: Manifest) => `${JSON.stringify(manifest, undefined, 2)}\n`

export const createManifest = (facts: Omit<Manifest, 'format'>): Manifest => ({ format, ...facts })

/** @returns the reason, in words that follow the name of the file, when it is no manifest that this program can read */
export function parseManifest(text: string): Manifest | { readonly problem: string } {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    return { problem: 'is not JSON' }
  }
  if (isFields(content) && 'format' in content && content.format !== format)
    return { problem: `has format ${content.format}, and this program supports format ${format} only` }
  const wrong = isFields(content) ? wrongField(content) : 'it is not an object'
  return wrong === undefined ? (content as Manifest) : { problem: `is not the manifest of an export: ${wrong}` }
}

type Fields = Readonly<Record<string, unknown>>
type Check = (value: unknown) => boolean

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isText: Check = (value) => typeof value === 'string'
const isTime: Check = (value) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(String(value)) && !Number.isNaN(Date.parse(String(value)))
const isPosition: Check = (value) => isText(value) && /^\d{1,20}$/.test(String(value))
const isCount: Check = (value) => Number.isInteger(value) && Number(value) >= 0
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)

const filterChecks: Readonly<Record<keyof ExportFilters, Check>> = {
  category: orNull(isText),
  stream: orNull(isText),
  type: orNull(isText),
  since: orNull(isTime),
  until: orNull(isTime),
}
const isCheckpoint: Check = (value) =>
  isFields(value) &&
  isText(value.note) &&
  (value.consistency === null || (Array.isArray(value.consistency) && value.consistency.every(isText)))

const checks: Readonly<Record<keyof Manifest, Check>> = {
  format: (value) => value === format,
  filters: isFields,
  head: orNull(isPosition),
  count: isCount,
  first_position: orNull(isPosition),
  last_position: orNull(isPosition),
  bytes: isCount,
  sha256: (value) => /^[0-9a-f]{64}$/.test(String(value)),
  checkpoint: orNull(isCheckpoint),
}

function wrongField(content: Fields): string | undefined {
  const filters = isFields(content.filters) ? content.filters : {}
  const wrong =
    Object.entries(checks).find(([field, check]) => !check(content[field])) ??
    Object.entries(filterChecks).find(([field, check]) => !check(filters[field]))
  if (wrong !== undefined) return `${wrong[0]} is missing or wrong`
  const { since, until } = filters
  // Such filters select nothing, so that an empty export would be right.
  const isEmpty = since !== null && until !== null && Date.parse(String(since)) >= Date.parse(String(until))
  return isEmpty ? 'its since is not before its until' : undefined
}
