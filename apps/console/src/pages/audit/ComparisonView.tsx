// The finding of a verification.
import { type Compared, causeText } from '@paylog/event-store/export/compareExport'
import { differenceText } from '@paylog/event-store/export/difference'
import type { Manifest } from '@paylog/event-store/export/manifest'
import { Notice } from '../../parts/Notice.tsx'
import { ExportedFacts } from './ExportedFacts.tsx'

type Props = { readonly name: string; readonly manifest: Manifest; readonly comparison: Compared }

export function ComparisonView({ name, manifest, comparison }: Props) {
  const { difference, events } = comparison
  const counted = events === 1 ? '1 event' : `${events.toLocaleString()} events`
  return (
    <>
      {difference === undefined ? (
        <Notice tone="good" title={`${name} matches its manifest and the log`}>
          {counted} compared.
        </Notice>
      ) : (
        <Notice tone="bad" title={`${name} does not match`}>
          <p className="wrap">The first difference: {differenceText(difference)}.</p>
          <p>
            {causeText(comparison)} {counted} before it are those of the log.
          </p>
        </Notice>
      )}
      <Extent manifest={manifest} comparison={comparison} />
      <ExportedFacts manifest={manifest} />
    </>
  )
}

function Extent({ manifest: { filters, head }, comparison: { logEnd } }: Omit<Props, 'name'>) {
  if (filters.until !== null || typeof logEnd !== 'string' || BigInt(logEnd) <= BigInt(head ?? -1)) return null
  return <p>The log has grown since: events after position {head ?? 'its start'} were not compared.</p>
}
