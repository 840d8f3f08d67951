// Syncs the selected products to a provider, after a dry run that says what would happen.
import { Checkbox, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ActionDialog } from '../../actions/ActionDialog.tsx'
import { type Send, useAction } from '../../actions/useAction.ts'
import { api, dataOf } from '../../api/api.ts'
import type { Product, SyncReport } from '../../api/apiTypes.ts'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { SyncReportView } from './SyncReportView.tsx'

type Input = {
  readonly provider: string
  readonly force: boolean
  readonly updatePrices: boolean
  readonly reason: string
}

/** As long as a sync of many products may take. */
const timeoutMs = 15 * 60_000

export function SyncDialog({ products, close }: { readonly products: readonly Product[]; readonly close: () => void }) {
  const [provider, setProvider] = useState('')
  const [force, setForce] = useState(false)
  const [updatePrices, setUpdatePrices] = useState(false)
  const { reason, reasonField } = useReason()
  const product_ids = products.map(({ id }) => id)
  const sendWith =
    (dryRun: boolean): Send<Input, SyncReport> =>
    (input, { key }) => {
      const body = { product_ids, force: input.force, updatePrices: input.updatePrices, dryRun }
      const named = input.provider === '' ? body : { ...body, provider_id: input.provider }
      const header = { 'idempotency-key': key, ...reasonHeader(input.reason) }
      return dataOf(api.syncProducts({ header, body: named, timeoutMs }))
    }
  const ids = product_ids.toSorted().join(' ')
  const dryRun = useAction({ name: `try sync ${ids}`, effect: 'none', send: sendWith(true) })
  const sync = useAction({ name: `sync ${ids}`, effect: 'once', send: sendWith(false) })
  const change =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      set(value)
      dryRun.reset()
    }
  const report = sync.result ?? dryRun.result
  const wasTried = dryRun.result !== undefined
  return (
    <ActionDialog
      title={products.length === 1 ? 'Sync 1 product' : `Sync ${products.length} products`}
      size="xl"
      action={sync}
      dryRun={dryRun}
      confirm={wasTried ? 'Sync now' : 'Show what it would do (dry run)'}
      repeat="Repeat the sync"
      fields={
        <>
          <TextInput
            label="Provider"
            description="May be empty when only one provider is enabled"
            value={provider}
            onChange={({ currentTarget }) => change(setProvider)(currentTarget.value)}
          />
          <Checkbox
            label="Sync unchanged products too"
            checked={force}
            onChange={({ currentTarget }) => change(setForce)(currentTarget.checked)}
          />
          <Checkbox
            label="Replace prices that differ at the provider"
            checked={updatePrices}
            onChange={({ currentTarget }) => change(setUpdatePrices)(currentTarget.checked)}
          />
          {wasTried && reasonField}
        </>
      }
      report={report && <SyncReportView products={products} report={report} isDryRun={sync.result === undefined} />}
      success={sync.result && 'The products were sent to the provider.'}
      close={close}
      submit={() => (wasTried ? sync : dryRun).submit({ provider: provider.trim(), force, updatePrices, reason })}
    />
  )
}
