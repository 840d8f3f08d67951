// One product: its price, what it is, and what can be done with it.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { statusOf } from '../../api/apiErrors.ts'
import type { Product } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import { Facts } from '../../parts/Facts.tsx'
import { Identifier } from '../../parts/Identifier.tsx'
import { Money } from '../../parts/Money.tsx'
import { Page } from '../../parts/Page.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx'
import { Dash, Time } from '../../parts/Time.tsx'
import { useMay } from '../../session/rights.ts'
import { ProductDialog } from './ProductDialog.tsx'
import { productQuery } from './productQuery.ts'
import { billingText } from './productTexts.ts'
import { SyncDialog } from './SyncDialog.tsx'

const route = getRouteApi('/products/$id')

export function ProductPage() {
  const { id } = route.useParams()
  const query = useQuery(productQuery(id))
  const product = query.data?.product
  const [opened, setOpened] = useState<'edit' | 'sync'>()
  const may = useMay()
  const close = () => setOpened(undefined)
  return (
    <Page
      title={product?.name ?? 'Product'}
      lead={
        <span className="row">
          {product && <Badge text={product.is_active ? 'active' : 'inactive'} />}
          <Link to="/products">All products</Link>
        </span>
      }
      actions={
        product && (
          <>
            {may('syncProducts') && product.is_active && (
              <Button size="xs" variant="default" onClick={() => setOpened('sync')}>
                Sync to a provider
              </Button>
            )}
            {may('updateProduct') && (
              <Button size="xs" variant="default" onClick={() => setOpened('edit')}>
                Edit
              </Button>
            )}
          </>
        )
      }
    >
      {query.isError && <Missing error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <LoadingState what="the product" />}
      {product && <ProductBody product={product} />}
      {product && opened === 'edit' && <ProductDialog id={id} close={close} />}
      {product && opened === 'sync' && <SyncDialog products={[product]} close={close} />}
    </Page>
  )
}

function Missing({ error, retry }: { readonly error: unknown; readonly retry: () => void }) {
  if (statusOf(error) !== 404) return <ErrorState error={error} retry={retry} />
  return (
    <div className="panel">
      <EmptyState title="No product with this id">
        <Link to="/products">All products</Link>
      </EmptyState>
    </div>
  )
}

function ProductBody({ product }: { readonly product: Product }) {
  const { currency, subtotal_cents, tax_cents, discount_cents, total_cents } = product
  const amount = (cents: number | null) => <Money cents={cents} currency={currency} />
  return (
    <div className="panels">
      <Panel title="Price">
        <div className="stack">
          <p>
            <span className="figure">{amount(total_cents)}</span> <span className="hint">{billingText(product)}</span>
          </p>
          <Facts
            facts={[
              ['Before tax', amount(subtotal_cents)],
              ['Tax', amount(tax_cents)],
              ['Discount', amount(discount_cents)],
            ]}
          />
        </div>
      </Panel>
      <Panel title="Product">
        <Facts
          facts={[
            ['Type', product.product_type],
            ['Category', product.category_id ?? <Dash key="category" />],
            ['Created', <Time key="created" value={product.created_at} />],
            ['Updated', <Time key="updated" value={product.updated_at} />],
            ['Id', <Identifier key="id" name="product id" value={product.id} />],
            product.description !== null && [
              'Description',
              <span key="description" className="longText">
                {product.description}
              </span>,
            ],
          ]}
        />
      </Panel>
      <p className="hint">
        A sync writes the product and its price to the catalogue of a provider, which needs them for subscriptions. A
        change here reaches the provider with the next sync.
      </p>
    </div>
  )
}
