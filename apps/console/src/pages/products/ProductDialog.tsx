// Creates a product, or edits one.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { ActionDialog } from '../../actions/ActionDialog.tsx'
import { type Send, useAction } from '../../actions/useAction.ts'
import { api, dataOf } from '../../api/api.ts'
import type { Product } from '../../api/apiTypes.ts'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { ErrorState, LoadingState } from '../../parts/states.tsx'
import { ProductFields } from './ProductFields.tsx'
import { changesOf, emptyForm, formOf, type ProductForm, problemsOf, productOf } from './productForm.ts'
import { productQuery } from './productQuery.ts'

/** @param props `id` is null for a new product */
export function ProductDialog({ id, close }: { readonly id: string | null; readonly close: () => void }) {
  return id === null ? <NewProductDialog close={close} /> : <EditDialog id={id} close={close} />
}

function NewProductDialog({ close }: { readonly close: () => void }) {
  const send: Send<ProductForm, Product> = (form, { key }) =>
    dataOf(api.createProduct({ header: { 'idempotency-key': key }, body: productOf(form) }))
  return (
    <FormDialog
      act="create product"
      title="New product"
      confirm="Create"
      initial={emptyForm}
      send={send}
      success={({ id, name }) => (
        <>
          {name} is in the catalogue.{' '}
          <Link to="/products/$id" params={{ id }}>
            Open it
          </Link>
        </>
      )}
      close={close}
    />
  )
}

function EditDialog({ id, close }: { readonly id: string; readonly close: () => void }) {
  const query = useQuery({
    queryFn: productQuery(id).queryFn,
    // What is edited is what the product is now, not what was shown before, and stays so while it is edited.
    queryKey: ['edited product', id],
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (query.data === undefined) {
    return (
      <ConfirmDialog opened title="Edit product" confirm="Save" isRunning={false} isOver close={close} submit={close}>
        {query.isError ? (
          <ErrorState error={query.error} retry={() => void query.refetch()} />
        ) : (
          <LoadingState what="the product" />
        )}
      </ConfirmDialog>
    )
  }
  const { product, etag } = query.data
  const send: Send<ProductForm, Product> = async (form, { isRepeated }) => {
    const changes = changesOf(product, form)
    if (Object.keys(changes).length === 0) return product
    // A repeated request may meet a product that the first one changed.
    const header = etag === null || isRepeated ? {} : { 'if-match': etag }
    return dataOf(api.updateProduct({ path: { id }, header, body: changes }))
  }
  return (
    <FormDialog
      act={`edit ${id}`}
      title={`Edit ${product.name}`}
      confirm="Save"
      initial={formOf(product)}
      send={send}
      close={close}
    />
  )
}

/** @param props `act` names the action, see `useAction` */
function FormDialog(props: {
  readonly act: string
  readonly title: string
  readonly confirm: string
  readonly initial: ProductForm
  readonly send: Send<ProductForm, Product>
  /** What to say of the saved product; that it is saved by default. */
  readonly success?: (product: Product) => ReactNode
  readonly close: () => void
}) {
  const { act, title, confirm, initial, send, success, close } = props
  const [form, setForm] = useState(initial)
  const [isTried, setTried] = useState(false)
  const client = useQueryClient()
  const action = useAction({
    name: act,
    effect: 'once',
    send,
    // The list is built from its start, so that it has the product at its place.
    onResponse() {
      void client.resetQueries({ queryKey: ['products'] })
      void client.invalidateQueries({ queryKey: ['product'] })
    },
  })
  const problems = problemsOf(form)
  return (
    <ActionDialog
      title={title}
      action={action}
      confirm={confirm}
      repeat={`${confirm} ${action.openInput?.name} again`}
      fields={
        <ProductFields
          form={form}
          change={(changes) => setForm({ ...form, ...changes })}
          problems={isTried ? problems : {}}
        />
      }
      success={action.result && (success?.(action.result) ?? `${action.result.name} is saved.`)}
      close={close}
      submit={() => {
        setTried(true)
        if (Object.keys(problems).length === 0) action.submit(form)
      }}
    />
  )
}
