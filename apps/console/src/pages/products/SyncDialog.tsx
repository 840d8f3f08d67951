// Syncs products to a provider, after a dry run that says what would happen.
import { Checkbox, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ActionDialog } from '../../actions/ActionDialog.tsx'
import { useAction } from '../../actions/useAction.ts'
import { api, dataOf } from '../../api/api.ts'
import type { Product, SyncReport } from '../../api/apiTypes.ts'
import { providersQuery } from '../../api/frameQueries.ts'
import { countText } from '../../format/count.ts'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { ErrorState, LoadingState } from '../../parts/states.tsx'
import { SyncReportView } from './SyncReportView.tsx'

type Options = { readonly provider: string; readonly force: boolean; readonly updatePrices: boolean }

/** As long as a sync of many products may take. */
const timeoutMs = 15 * 60_000

export function SyncDialog({ products, close }: { readonly products: readonly Product[]; readonly close: () => void }) {
  const { data: providers } = useQuery(providersQuery)
  const enabled = providers?.filter(({ is_enabled }) => is_enabled).map(({ id }) => id)
  const [chosen, setChosen] = useState<string>()
  const [force, setForce] = useState(false)
  const [updatePrices, setUpdatePrices] = useState(false)
  const { reason, reasonField } = useReason()
  const provider = chosen ?? enabled?.[0]
  const { dryRun, sync } = useSync(products, provider === undefined ? undefined : { provider, force, updatePrices })
  const report = sync.result ?? dryRun.data
  const writes = dryRun.data ? dryRun.data.summary.created + dryRun.data.summary.updated : 0
  return (
    <ActionDialog
      title={`Sync ${countText(products.length, 'product')}`}
      size="xl"
      action={sync}
      confirm={writes > 0 ? `Sync ${countText(writes, 'product')} now` : 'Sync now'}
      repeat="Repeat the sync"
      fields={
        <>
          <NativeSelect
            label="Provider"
            data={[...(enabled ?? [])]}
            value={provider ?? ''}
            onChange={({ currentTarget }) => setChosen(currentTarget.value)}
          />
          <Checkbox
            label="Sync unchanged products too"
            checked={force}
            onChange={({ currentTarget }) => setForce(currentTarget.checked)}
          />
          <Checkbox
            label="Replace prices that differ at the provider"
            checked={updatePrices}
            onChange={({ currentTarget }) => setUpdatePrices(currentTarget.checked)}
          />
          {reasonField}
        </>
      }
      report={
        <>
          {report && <SyncReportView products={products} report={report} isDryRun={sync.result === undefined} />}
          {enabled?.length === 0 && <p>No provider is enabled. Its credentials are variables of the environment.</p>}
          {!report && dryRun.isError && <ErrorState error={dryRun.error} retry={() => void dryRun.refetch()} />}
          {!report && dryRun.isLoading && <LoadingState what="what the sync would do" rows={2} />}
        </>
      }
      success={sync.result && syncedText(sync.result)}
      close={close}
      submit={() => {
        if (provider !== undefined && dryRun.data !== undefined) sync.submit({ provider, force, updatePrices, reason })
      }}
    />
  )
}

/** @param options undefined before a provider is known */
function useSync(products: readonly Product[], options: Options | undefined) {
  const product_ids = products.map(({ id }) => id)
  const bodyOf = ({ provider: provider_id, force, updatePrices }: Options, dryRun: boolean) => ({
    ...{ product_ids, provider_id, force, updatePrices, dryRun },
  })
  const dryRun = useQuery({
    queryKey: ['sync', product_ids, options],
    queryFn: async ({ signal }): Promise<SyncReport> => {
      if (options === undefined) throw new Error('No provider is enabled')
      return await dataOf(api.syncProducts({ body: bodyOf(options, true), timeoutMs, signal }))
    },
    enabled: options !== undefined,
    gcTime: 0,
    staleTime: 0,
  })
  const sync = useAction({
    name: `sync ${product_ids.toSorted().join(' ')}`,
    effect: 'once',
    send({ reason, ...input }: Options & { readonly reason: string }, { key }): Promise<SyncReport> {
      const header = { 'idempotency-key': key, ...reasonHeader(reason) }
      return dataOf(api.syncProducts({ header, body: bodyOf(input, false), timeoutMs }))
    },
  })
  return { dryRun, sync }
}

function syncedText({ failed }: SyncReport): string {
  if (failed === 0) return 'The provider has them.'
  return failed === 1 ? '1 product failed; the report says why.' : `${failed} products failed; the report says why.`
}
