// Creates a product, or edits one.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../../api/api.ts'
import type { Product } from '../../api/apiTypes.ts'
import { randomKey } from '../../format/randomKey.ts'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { ErrorState, LoadingState } from '../../parts/states.tsx'
import { ProductFields } from './ProductFields.tsx'
import { changesOf, emptyForm, formOf, type ProductForm, problemsOf, productOf } from './productForm.ts'

/** @param props `id` is null for a new product */
export function ProductDialog({ id, close }: { readonly id: string | null; readonly close: () => void }) {
  return id === null ? <NewProductDialog close={close} /> : <EditDialog id={id} close={close} />
}

function NewProductDialog({ close }: { readonly close: () => void }) {
  const [key] = useState(randomKey)
  const send = (form: ProductForm) =>
    dataOf(api.createProduct({ header: { 'idempotency-key': key }, body: productOf(form) }))
  return <FormDialog title="New product" confirm="Create" initial={emptyForm} send={send} close={close} />
}

function EditDialog({ id, close }: { readonly id: string; readonly close: () => void }) {
  const query = useQuery({
    queryKey: ['product', id],
    queryFn: async ({ signal }) => {
      const { body, headers } = await api.getProduct({ path: { id }, signal })
      return { product: body.data, etag: headers.get('etag') }
    },
    // What is edited is what the product is now, not what was shown before.
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
  const send = async (form: ProductForm): Promise<Product> => {
    const changes = changesOf(product, form)
    if (Object.keys(changes).length === 0) return product
    const header = etag === null ? {} : { 'if-match': etag }
    return dataOf(api.updateProduct({ path: { id }, header, body: changes }))
  }
  return (
    <FormDialog title={`Edit ${product.name}`} confirm="Save" initial={formOf(product)} send={send} close={close} />
  )
}

function FormDialog(props: {
  readonly title: string
  readonly confirm: string
  readonly initial: ProductForm
  readonly send: (form: ProductForm) => Promise<Product>
  readonly close: () => void
}) {
  const { title, confirm, initial, send, close } = props
  const [form, setForm] = useState(initial)
  const [isTried, setTried] = useState(false)
  const client = useQueryClient()
  const request = useMutation({
    mutationFn: send,
    async onSuccess() {
      close()
      // The list is built anew, so that it has the product at its place.
      await client.resetQueries({ queryKey: ['products'] })
    },
  })
  const problems = problemsOf(form)
  return (
    <ConfirmDialog
      opened
      title={title}
      confirm={confirm}
      isRunning={request.isPending}
      close={close}
      submit={() => {
        setTried(true)
        if (Object.keys(problems).length === 0) request.mutate(form)
      }}
    >
      <ProductFields
        form={form}
        change={(changes) => setForm({ ...form, ...changes })}
        problems={isTried ? problems : {}}
      />
      {request.isError && <ErrorState error={request.error} />}
    </ConfirmDialog>
  )
}
