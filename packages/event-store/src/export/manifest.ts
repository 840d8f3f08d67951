// FILE.manifest.json: the extent of an export, and its checksum. Runs in browsers too.

/**
 * Raised whenever the layout of lines or manifest changes. Format 1 had no `checkpoint`, and lines without `exact`: see
 * `lineInFormat`.
 */
const format = 2
const formats: readonly unknown[] = [1, format]

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
  readonly format: 1 | typeof format
  readonly filters: {
    readonly category: string | null
    readonly stream: string | null
    readonly type: string | null
    readonly since: string | null
    readonly until: string | null
  }
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

export const createManifest = (
  filters: Manifest['filters'],
  facts: Omit<Manifest, 'format' | 'filters'>,
): Manifest => ({
  format,
  filters,
  ...facts,
})

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

/** @returns the reason, in words that follow the name of the file, when it is no manifest that this program can read */
export function parseManifest(text: string): Manifest | { readonly problem: string } {
  const content = parsed(text)
  if (content === undefined) return { problem: 'is not JSON' }
  const other = isFields(content) && 'format' in content ? content.format : format
  if (!formats.includes(other))
    return { problem: `has format ${other}, and this program supports formats 1 to ${format}` }
  const wrong = wrongField(content)
  if (wrong !== undefined) return { problem: `is not the manifest of an export: ${wrong}` }
  const manifest = content as Manifest
  return manifest.format === format ? manifest : { ...manifest, checkpoint: null }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Fields = Readonly<Record<string, unknown>>
type Check = (value: unknown) => boolean

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isText: Check = (value) => typeof value === 'string'
const isTime: Check = (value) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value) && !Number.isNaN(Date.parse(value))
const isPosition: Check = (value) => typeof value === 'string' && /^\d{1,20}$/.test(value)
const isNumber: Check = (value) => Number.isInteger(value) && Number(value) >= 0
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)

const filterChecks: Readonly<Record<keyof Manifest['filters'], Check>> = {
  category: orNull(isText),
  stream: orNull(isText),
  type: orNull(isText),
  since: orNull(isTime),
  until: orNull(isTime),
}
const isCheckpoint: Check = (value) => {
  if (!isFields(value) || !isText(value.note)) return false
  const { consistency } = value
  return consistency === null || (Array.isArray(consistency) && consistency.every(isText))
}
const checks: Readonly<Record<Exclude<keyof Manifest, 'format' | 'filters' | 'checkpoint'>, Check>> = {
  head: orNull(isPosition),
  count: isNumber,
  first_position: orNull(isPosition),
  last_position: orNull(isPosition),
  bytes: isNumber,
  sha256: (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
}

function wrongField(content: unknown): string | undefined {
  if (!isFields(content)) return 'it is not an object'
  if (!('format' in content)) return 'format is missing'
  const { filters } = content
  if (!isFields(filters)) return 'filters is missing or wrong'
  const wrong =
    Object.entries(checks).find(([field, check]) => !check(content[field])) ??
    Object.entries(filterChecks).find(([field, check]) => !check(filters[field]))
  if (wrong !== undefined) return `${wrong[0]} is missing or wrong`
  if (content.format === format && !orNull(isCheckpoint)(content.checkpoint)) return 'checkpoint is missing or wrong'
  const { since, until } = filters
  const isEmpty = isText(since) && isText(until) && Date.parse(String(since)) >= Date.parse(String(until))
  return isEmpty ? 'its since is not before its until' : undefined
}
