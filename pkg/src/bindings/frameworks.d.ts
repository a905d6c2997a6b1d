// What the bindings use of each framework, so that the package is built without any of them installed. The tests compile
// the types of the bindings against the frameworks' own.
declare module "react" {
  export function useEffect(effect: () => () => void, dependencies: readonly unknown[]): void;
  export function useMemo<T>(compute: () => T, dependencies: readonly unknown[]): T;
  export function useState<S>(initial: () => S): [S, (next: S | ((was: S) => S)) => void];
}

declare module "vue" {
  interface ShallowRef<T> {
    value: T;
  }
  export interface ComputedRef<T> {
    readonly value: T;
  }
  export type MaybeRefOrGetter<T> = T | ComputedRef<T> | (() => T);
  export function computed<T>(getter: () => T): ComputedRef<T>;
  export function shallowRef<T>(value: T): ShallowRef<T>;
  export function toValue<T>(source: MaybeRefOrGetter<T>): T;
  export function watchPostEffect(effect: (onCleanup: (cleanup: () => void) => void) => void): void;
}

declare module "solid-js" {
  export function createEffect(effect: () => void): void;
  export function createMemo<T>(compute: () => T): () => T;
  export function createSignal<T>(value: T): [() => T, (next: () => T) => T];
  export function onCleanup(cleanup: () => void): void;
}

declare module "svelte/reactivity" {
  export function createSubscriber(start: (update: () => void) => () => void): () => void;
}

declare module "@angular/core" {
  export type Signal<T> = () => T;
  export abstract class Injector {
    abstract get<T>(token: unknown): T;
  }
  export function afterRenderEffect(effect: (onCleanup: (cleanup: () => void) => void) => void): void;
  export function computed<T>(compute: () => T): Signal<T>;
  export function inject<T>(token: abstract new () => T): T;
  export function runInInjectionContext<R>(injector: Injector, run: () => R): R;
  export function signal<T>(value: T): Signal<T> & { set(value: T): void };
  export function untracked<T>(read: () => T): T;
}
