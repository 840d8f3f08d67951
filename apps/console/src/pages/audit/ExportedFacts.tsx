// What a manifest says of its file.
import { filtersText } from '@paylog/event-store/export/filters'
import type { Manifest } from '@paylog/event-store/export/manifest'
import { formatBytes } from '../../format/bytes.ts'
import { Facts } from '../../parts/Facts.tsx'
import { Identifier } from '../../parts/Identifier.tsx'

export function ExportedFacts({ manifest }: { readonly manifest: Manifest }) {
  const { filters, count, bytes, first_position, last_position, head, sha256, checkpoint } = manifest
  return (
    <Facts
      facts={[
        ['Contains', filtersText(filters)],
        ['Events', count.toLocaleString()],
        ['Size', `${formatBytes(bytes)} (${bytes.toLocaleString()} bytes)`],
        ['Positions', first_position === null ? 'none' : `${first_position} to ${last_position}`],
        ['Log read up to position', head ?? 'none'],
        ['Signed checkpoint', checkpoint === null ? 'none' : 'in the manifest'],
        ['SHA-256', <Identifier key="sha256" name="SHA-256" value={sha256} />],
      ]}
    />
  )
}
