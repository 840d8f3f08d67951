// What a sync did, or would do.
import type { Product, SyncReport } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { Dash } from '../../parts/Time.tsx'

type Result = SyncReport['results'][number]

/** @param props `products` are those of the sync; the report names them by id only */
export function SyncReportView(props: {
  readonly products: readonly Product[]
  readonly report: SyncReport
  readonly isDryRun: boolean
}) {
  const { products, report, isDryRun } = props
  const { created, updated, skipped, failed } = report.summary
  return (
    <section aria-label="Report" aria-live="polite">
      <h3>{isDryRun ? 'What it would do (dry run: nothing was changed)' : 'Report'}</h3>
      <p>
        {isDryRun
          ? `${created} to create, ${updated} to update, ${skipped} unchanged, ${failed} would fail`
          : `${created} created, ${updated} updated, ${skipped} unchanged, ${failed} failed`}
      </p>
      <DataTable
        caption={isDryRun ? 'What the sync would do' : 'What the sync did'}
        columns={columnsOf(products, isDryRun)}
        rows={report.results}
        rowKey={({ product_id }) => product_id}
      />
    </section>
  )
}

const columnsOf = (products: readonly Product[], isDryRun: boolean): readonly Column<Result>[] => [
  {
    header: 'Product',
    narrow: 'title',
    cell: ({ product_id }) => products.find(({ id }) => id === product_id)?.name ?? <code>{product_id}</code>,
  },
  {
    header: 'Result',
    isShort: true,
    narrow: 'figure',
    cell: ({ status }) => <ResultBadge status={status} isDryRun={isDryRun} />,
  },
  {
    header: 'At the provider',
    narrow: 'detail',
    cell: ({ provider_product_id }) => (provider_product_id ? <code>{provider_product_id}</code> : <Dash />),
  },
  { header: 'Remarks', narrow: 'detail', cell: (result) => remarksOf(result) || <Dash /> },
]

const planned: Readonly<Record<Result['status'], string>> = {
  created: 'to create',
  updated: 'to update',
  skipped: 'unchanged',
  failed: 'would fail',
}

function ResultBadge({ status, isDryRun }: Pick<Result, 'status'> & { readonly isDryRun: boolean }) {
  if (isDryRun) return <Badge text={planned[status]} tone={status === 'failed' ? 'bad' : 'quiet'} />
  return <Badge text={status === 'skipped' ? planned.skipped : status} />
}

function remarksOf({ error, price_differs, mapped_locally, kept_fields }: Result): string {
  const remarks = [
    error && `${error.message} (${error.code})`,
    price_differs && 'the provider keeps another price',
    mapped_locally && 'the provider has no catalogue',
    kept_fields && kept_fields.length > 0 && `the provider keeps ${kept_fields.join(', ')}`,
  ]
  return remarks.filter(Boolean).join('; ')
}
