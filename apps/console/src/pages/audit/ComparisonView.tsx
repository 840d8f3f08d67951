// The finding of a verification.
import type { Manifest } from '@paylog/event-store/export/manifest'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { Notice } from '../../parts/Notice.tsx'
import { Dash } from '../../parts/Time.tsx'
import { type Comparison, type EventFindingKind, type FoundEvent, maxListed } from './compareExport.ts'
import { ExportedFacts } from './ExportedFacts.tsx'

type Props = { readonly name: string; readonly manifest: Manifest; readonly comparison: Comparison }

export function ComparisonView({ name, manifest, comparison }: Props) {
  const fields = comparison.listed.filter((finding) => finding.kind === 'manifest')
  return (
    <>
      <Verdict name={name} comparison={comparison} />
      <Extent manifest={manifest} comparison={comparison} />
      {fields.length > 0 && (
        <section>
          <h3>The file is not the one of the manifest</h3>
          <DataTable
            caption="Differences from the manifest"
            columns={manifestColumns}
            rows={fields}
            rowKey={({ field }) => field}
          />
        </section>
      )}
      {kinds.map(([kind, title]) => (
        <FoundEvents key={kind} title={title} {...comparison.found[kind]} />
      ))}
      <ExportedFacts manifest={manifest} />
    </>
  )
}

function Verdict({ name, comparison }: Omit<Props, 'manifest'>) {
  const events = comparison.events === 1 ? '1 event' : `${comparison.events.toLocaleString()} events`
  if (comparison.isEqual)
    return (
      <Notice tone="good" title={`${name} matches its manifest and the log`}>
        {events} compared.
      </Notice>
    )
  return (
    <Notice tone="bad" title={`${name} does not match`}>
      {comparison.isAsManifest
        ? 'The file matches its manifest, so the log has changed since or is another one, or both files were changed.'
        : 'The file was changed after its manifest was written.'}{' '}
      {events} of the log are in the file.
    </Notice>
  )
}

function Extent({ manifest, comparison }: Omit<Props, 'name'>) {
  const { listed, head, logEnd } = comparison
  if (listed.some(({ kind }) => kind === 'other_log'))
    return (
      <p>
        The export covers the log up to position {manifest.head}, and this log ends at {logEnd ?? 'its start'}: it is
        another log, or an older backup of it.
      </p>
    )
  if (listed.some(({ kind }) => kind === 'nothing_covered'))
    return <p>The manifest describes an empty log, and this log has events up to position {logEnd}.</p>
  if (manifest.filters.until !== null || head === null || logEnd === null || BigInt(logEnd) <= BigInt(head)) return null
  return <p>The log has grown since: events after position {head} were not compared.</p>
}

type ManifestField = Extract<Comparison['listed'][number], { kind: 'manifest' }>

const manifestColumns: readonly Column<ManifestField>[] = [
  { header: 'Field', isShort: true, cell: ({ field }) => <code>{field}</code> },
  { header: 'In the manifest', cell: ({ manifest }) => <code>{manifest ?? 'none'}</code> },
  { header: 'In the file', cell: ({ file }) => <code>{file ?? 'none'}</code> },
]

const kinds: readonly (readonly [EventFindingKind, string])[] = [
  ['changed', 'Changed events'],
  ['missing', 'Events missing from the file'],
  ['extra', 'Lines that the log does not have here'],
  ['out_of_order', 'Events that are not in the order of the log'],
]

function FoundEvents(props: { readonly title: string; readonly count: number; readonly first: readonly FoundEvent[] }) {
  const { title, count, first } = props
  if (count === 0) return null
  return (
    <section>
      <h3>
        {title}: {count.toLocaleString()}
        {count > maxListed && `, the first ${maxListed}`}
      </h3>
      <DataTable
        caption={title}
        columns={findingColumns}
        rows={first}
        rowKey={({ line, id, position }) => `${line} ${id} ${position}`}
      />
    </section>
  )
}

const findingColumns: readonly Column<FoundEvent>[] = [
  { header: 'Line', isNumber: true, cell: ({ line }) => line ?? <Dash /> },
  { header: 'Event', cell: ({ id }) => (id === null ? 'not an event' : <code>{id}</code>) },
  { header: 'Position', isNumber: true, cell: ({ position }) => position ?? <Dash /> },
]
